
using namespace eagle;

__device__ __forceinline__ Ended eagle_step(const double* a2, i64 a2_n0, i64 a2_n1, i32 a0_0, i32 a1_0, i64 a3_0, double& a4_0_next, Where& where, const volatile u32* stop) {
    const i32 v0 = a0_0;
    const i32 v1 = a1_0;
    const i64 v2 = a3_0;
    if (v1 == 0) { where = {0, 0}; return FAULTED; }
    const i32 v3 = floordiv_(v0, v1);
    if (3 == 0) { where = {1, 0}; return FAULTED; }
    const i32 v4 = mod_(v0, 3);
    const i64 v5 = static_cast<i64>(v4);
    if (outside(v2, a2_n0)) { where = {2, v2}; return FAULTED; }
    if (outside(v5, a2_n1)) { where = {2, v5}; return FAULTED; }
    const double v6 = a2[(v2) * a2_n1 + v5];
    const double v7 = static_cast<double>(v3);
    const double v8 = v7 + v6;
    a4_0_next = v8;
    return WHOLE;
}

extern "C" __global__ void eagle_launch(const i32* a0, const i32* a1, const double* a2, i64 a2_n0, i64 a2_n1, const i64* a3, double* a4, i64 samples, Outcome* outcome, Fault* fault, u32* around, const volatile u32* stop) {
    const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples || outcome->halted != 0) return;
    const i32 a0_0 = a0[sample];
    const i32 a1_0 = a1[sample];
    const i64 a3_0 = a3[sample];
    double a4_0_next;
    Where where{0, 0};
    const Ended ended = eagle_step(a2, a2_n0, a2_n1, a0_0, a1_0, a3_0, a4_0_next, where, stop);
    if (ended == FAULTED) note(outcome, fault, around, sample, where);
    if (ended != WHOLE) return;
    a4[sample] = a4_0_next;
}
