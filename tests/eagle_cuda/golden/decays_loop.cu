
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

extern "C" __global__ void eagle_loop(double* a0, const double* a1, u8* a2, i64 samples, Outcome* outcome, Fault* fault, u32* around, const volatile u32* stop, i64 limit, i64* steps, u8* failed, Loop* loop) {
    if (outcome->halted != 0) return;
    i64 sample = -1, taken = 0, longest = 0;
    double a0_0 = 0;
    double a1_0 = 0;
    bool a2_0 = false;
    double a0_0_next = 0;
    bool a2_0_next = false;
    for (u32 turns = 0;; ++turns) {
        if (sample < 0) {
            do sample = next(loop);
            while (sample < samples && a2[sample] != 0);
            if (sample >= samples) break;
            taken = 0;
            a0_0 = a0[sample];
            a1_0 = a1[sample];
            a2_0 = a2[sample] != 0;
        }
        const bool stopping = turns % 1024 == 0 && *stop != 0;
        Where where{0, 0};
        Ended ended = stopping ? STOPPED : WHOLE;
        if (!stopping) ended = eagle_step(a0_0, a0_0_next, a1_0, a2_0_next, where, stop);
        bool over = ended != WHOLE, bad = false;
        if (ended == WHOLE) {
            ++taken;
            a0_0 = a0_0_next;
            a2_0 = a2_0_next;
            bad = failed != nullptr && !(is_finite(a0_0_next));
            over = bad || a2_0_next || taken == limit;
        }
        if (!over) continue;
        if (ended == FAULTED) note(outcome, fault, around, sample, where);
        if (taken > 0) {
            a0[sample] = a0_0;
            a2[sample] = a2_0 || bad;
            if (bad) failed[sample] = 1;
            if (steps != nullptr) steps[sample] += taken;
        }
        if (!a2_0 && !bad) loop->left = 1;
        if (taken > longest) longest = taken;
        sample = -1;
        if (ended == STOPPED) break;
    }
    if (longest > 0) atomicMax(&loop->longest, static_cast<u64>(longest));
}
