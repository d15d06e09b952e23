
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(double a1, double a0_0, double& a2_0_next, Where& where, const volatile u32* stop) {
    const double v0 = a0_0;
    const double v1 = a1;
    const bool v2 = v0 < v1;
    double v3;
    if (v2) {
        const double v4 = -v0;
        v3 = v4;
    } else {
        const double v5 = v0 * 0x1.999999999999ap-4;
        v3 = v5;
    }
    a2_0_next = v3;
    return WHOLE;
}

extern "C" __global__ void eagle_launch(const double* a0, double a1, double* a2, i64 samples, Outcome* outcome, Fault* fault, u32* around, const volatile u32* stop) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples || outcome->halted != 0) return;
    const double a0_0 = a0[sample];
    double a2_0_next;
    Where where{0, 0};
    const Ended ended = eagle_step(a1, a0_0, a2_0_next, where, stop);
    if (ended == FAULTED) note(outcome, fault, around, sample, where);
    if (ended != WHOLE) return;
    a2[sample] = a2_0_next;
}
