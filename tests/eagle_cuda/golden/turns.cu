
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(float a0_0, float& a0_0_next, float a0_1, float& a0_1_next, float a0_2, float& a0_2_next, float a1_0, Where& where, const volatile u32* stop) {
    const float v0 = a0_0;
    const float v1 = a0_1;
    const float v2 = a0_2;
    const float v3 = a1_0;
    const float v4 = v1 * v3;
    const float v5 = v2 / 0x1.8000000000000p+1f;
    const float v6 = -v0;
    a0_0_next = v4;
    a0_1_next = v5;
    a0_2_next = v6;
    return WHOLE;
}

extern "C" __global__ void eagle_launch(float* a0, i64 a0_row, const float* a1, i64 samples, Outcome* outcome, Fault* fault, u32* around, const volatile u32* stop) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples || outcome->halted != 0) return;
    const float a0_0 = a0[sample];
    const float a0_1 = a0[sample + 1 * a0_row];
    const float a0_2 = a0[sample + 2 * a0_row];
    const float a1_0 = a1[sample];
    float a0_0_next;
    float a0_1_next;
    float a0_2_next;
    Where where{0, 0};
    const Ended ended = eagle_step(a0_0, a0_0_next, a0_1, a0_1_next, a0_2, a0_2_next, a1_0, where, stop);
    if (ended == FAULTED) note(outcome, fault, around, sample, where);
    if (ended != WHOLE) return;
    a0[sample] = a0_0_next;
    a0[sample + 1 * a0_row] = a0_1_next;
    a0[sample + 2 * a0_row] = a0_2_next;
}
