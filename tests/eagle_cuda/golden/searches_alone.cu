
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(double a0_0, i32 a1_0, i64& a2_0_next, Where& where, const volatile u32* stop) {
    const double v0 = a0_0;
    const i32 v1 = a1_0;
    i64 v2 = 0LL;
    bool v3 = false;
    for (u32 turns = 1;; ++turns) {
        const bool v4 = !v3;
        const i64 v5 = static_cast<i64>(v1);
        const bool v6 = v2 < v5;
        const bool v7 = v4 & v6;
        if (!v7) break;
        if (turns % 4096 == 0 && *stop != 0) return STOPPED;
        const double v8 = static_cast<double>(v2);
        const double v9 = v0 * v8;
        const bool v10 = v9 > 0x1.0000000000000p+1;
        i64 v11;
        bool v12;
        if (v10) {
            v11 = v2;
            v12 = true;
        } else {
            const i64 v13 = add_(v2, 1LL);
            v11 = v13;
            v12 = false;
        }
        v2 = v11;
        v3 = v12;
    }
    const i64 v14 = v2;
    const bool v15 = v3;
    a2_0_next = v14;
    return WHOLE;
}

extern "C" __global__ void eagle_alone(const double* a0, const i32* a1, i64* a2, i64 samples) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    const double a0_0 = a0[sample];
    const i32 a1_0 = a1[sample];
    i64 a2_0_next;
    Where where{0, 0};
    const volatile u32 never = 0, *const stop = &never;
    if (eagle_step(a0_0, a1_0, a2_0_next, where, stop) != WHOLE) return;
    a2[sample] = a2_0_next;
}
