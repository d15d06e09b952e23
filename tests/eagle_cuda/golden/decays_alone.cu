
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(double a0_0, double& a0_0_next, double a1_0, bool& a2_0_next, Where& where, const volatile u32* stop) {
    const double v0 = a0_0;
    const double v1 = a1_0;
    const double v2 = v0 * v1;
    const bool v3 = v2 < 0x1.0000000000000p+0;
    a0_0_next = v2;
    a2_0_next = v3;
    return WHOLE;
}

extern "C" __global__ void eagle_alone(double* a0, const double* a1, u8* a2, i64 samples) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    if (a2[sample] != 0) return;
    const double a0_0 = a0[sample];
    const double a1_0 = a1[sample];
    double a0_0_next;
    bool a2_0_next;
    Where where{0, 0};
    const volatile u32 never = 0, *const stop = &never;
    if (eagle_step(a0_0, a0_0_next, a1_0, a2_0_next, where, stop) != WHOLE) return;
    a0[sample] = a0_0_next;
    a2[sample] = a2_0_next;
}
