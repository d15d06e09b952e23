
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(bool a0_0, bool a1_0, bool& a1_0_next, double a2_0, Where& where, const volatile u32* stop) {
    const bool v0 = a0_0;
    const bool v1 = a1_0;
    const double v2 = a2_0;
    const bool v3 = !v1;
    const bool v4 = v0 & v3;
    const bool v5 = v2 == 0x1.8000000000000p+0;
    const bool v6 = v4 | v5;
    a1_0_next = v6;
    return WHOLE;
}

extern "C" __global__ void eagle_launch(const u8* a0, u8* a1, const double* a2, i64 samples, Outcome* outcome, Fault* fault, u32* around, const volatile u32* stop) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples || outcome->halted != 0) return;
    const bool a0_0 = a0[sample] != 0;
    const bool a1_0 = a1[sample] != 0;
    const double a2_0 = a2[sample];
    bool a1_0_next;
    Where where{0, 0};
    const Ended ended = eagle_step(a0_0, a1_0, a1_0_next, a2_0, where, stop);
    if (ended == FAULTED) note(outcome, fault, around, sample, where);
    if (ended != WHOLE) return;
    a1[sample] = a1_0_next;
}
