// What a kernel's samples report: how a step ended, and the fault of the lowest sample.

namespace eagle {

enum Ended { WHOLE, FAULTED, STOPPED };

// Where in a kernel a sample faulted, and the index that was outside a table.
struct Where {
    u32 place;
    i64 index;
};

// Of the whole graph: whether anything failed, and whether it had when the repetition began.
struct Outcome {
    u32 failed;
    u32 halted;
};

// Of one node; all zero before a run. `key` is the complement of the lowest sample that faulted: the largest wins.
struct Fault {
    u64 key;
    i64 index;
    u32 place;
    u32 lock;
};

// Of one loop over samples; all zero before it begins.
struct Loop {
    u64 next;     // the sample that the next free thread takes
    u64 longest;  // most steps that a sample took
    u64 left;     // 1: a sample is not done
};

// Samples that fault are few, so they take turns: the lowest one's place and index have to stay together.
__device__ inline void note(Outcome* outcome, Fault* fault, u32* around, i64 sample, Where where) {
    const u64 key = ~static_cast<u64>(sample);
    for (bool waiting = true; waiting;) {
        if (atomicCAS(&fault->lock, 0u, 1u) != 0u) continue;
        __threadfence();
        volatile Fault* noted = fault;
        if (noted->key < key) {
            noted->key = key;
            noted->place = where.place;
            noted->index = where.index;
        }
        __threadfence();
        atomicExch(&fault->lock, 0u);
        waiting = false;
    }
    outcome->failed = 1;
    if (around != nullptr) *around = 1;
}

__device__ inline i64 next(Loop* loop) { return static_cast<i64>(atomicAdd(&loop->next, static_cast<u64>(1))); }

}  // namespace eagle
