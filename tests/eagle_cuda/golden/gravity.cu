
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(double a1, double a0_0, double a0_1, double a2_0, double& a2_0_next, double a2_1, double& a2_1_next, Where& where, const volatile u32* stop) {
    const double v0 = a0_0;
    const double v1 = a0_1;
    const double v2 = a1;
    const double v3 = a2_0;
    const double v4 = a2_1;
    const double v5 = -v2;
    const double v6 = ::fma(v5, v0, v3);
    const double v7 = ::fma(v5, v1, v4);
    a2_0_next = v6;
    a2_1_next = v7;
    return WHOLE;
}

extern "C" __global__ void eagle_launch(const double* a0, i64 a0_row, double a1, double* a2, i64 a2_row, i64 samples, Outcome* outcome, Fault* fault, u32* around, const volatile u32* stop) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples || outcome->halted != 0) return;
    const double a0_0 = a0[sample];
    const double a0_1 = a0[sample + 1 * a0_row];
    const double a2_0 = a2[sample];
    const double a2_1 = a2[sample + 1 * a2_row];
    double a2_0_next;
    double a2_1_next;
    Where where{0, 0};
    const Ended ended = eagle_step(a1, a0_0, a0_1, a2_0, a2_0_next, a2_1, a2_1_next, where, stop);
    if (ended == FAULTED) note(outcome, fault, around, sample, where);
    if (ended != WHOLE) return;
    a2[sample] = a2_0_next;
    a2[sample + 1 * a2_row] = a2_1_next;
}
