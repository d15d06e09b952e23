// The kernels that decide whether the body of a conditional runs. One thread each. They tell the conditional node, or
// with EAGLE_DECIDED_BY_HOST, for drivers that have none, the host, in a word that it reads.

typedef unsigned char byte_t;
typedef unsigned int word_t;
typedef unsigned long long long_t;
#ifdef EAGLE_DECIDED_BY_HOST
typedef volatile word_t* condition_t;
#else
typedef unsigned long long condition_t;  // cudaGraphConditionalHandle

extern "C" __device__ __cudart_builtin__ void cudaGraphSetConditional(condition_t condition, unsigned int value);
#endif

namespace eagle {

__device__ inline void answer(condition_t condition, word_t value) {
#ifdef EAGLE_DECIDED_BY_HOST
    *condition = value;
#else
    cudaGraphSetConditional(condition, value);
#endif
}

// One cell compared with another one, or with zero. `sign` and `infinity` are the bits of a floating-point format, 0 for
// integers, so that one piece of code compares all dtypes exactly without calculating in them.
struct Guard {
    long_t cell;
    long_t baseline;  // address, 0: compare with zero
    long_t sign;
    long_t infinity;
    int size;    // bytes of a cell
    int truth;   // 1: any byte but 0 is true
    int negate;
    int always;  // 1: there is no guard
};

// What a conditional did, read by the host after the run.
struct Record {
    long_t iterations;
    word_t limited;
    word_t entered;
    word_t nan;     // 1: the guard's cell, 2: the baseline's
    word_t failed;  // of a loop: a node inside it failed
};

// Of the whole graph. What failed in one repetition halts the conditionals of the later ones that are queued already, and
// none of its own: which of those come after it depends on the order of the day.
struct Outcome {
    word_t failed;
    word_t halted;  // `failed` as it was when the repetition began
};

// Byte by byte: a cell of a strided array need not be aligned.
__device__ inline long_t load(long_t address, int size) {
    const volatile byte_t* bytes = reinterpret_cast<const volatile byte_t*>(address);
    long_t value = 0;
    for (int i = 0; i < size; ++i) value |= static_cast<long_t>(bytes[i]) << (8 * i);
    return value;
}

__device__ inline bool is_nan(const Guard& guard, long_t value) {
    return guard.infinity != 0 && (value & ~guard.sign) > guard.infinity;
}

__device__ inline long_t normal(const Guard& guard, long_t value) {
    if (guard.truth) return value != 0;
    return (value & ~guard.sign) == 0 ? 0 : value;  // -0.0 equals 0.0
}

// A NaN decides nothing: it is noted, and the body does not run.
__device__ inline bool holds(const Guard& guard, Record* record, Outcome* outcome) {
    if (guard.always) return true;
    const long_t value = load(guard.cell, guard.size);
    const long_t base = guard.baseline != 0 ? load(guard.baseline, guard.size) : 0;
    const word_t nan = is_nan(guard, value) ? 1 : is_nan(guard, base) ? 2 : 0;
    if (nan != 0) {
        if (record->nan == 0) record->nan = nan;
        outcome->failed = 1;
        return false;
    }
    return (normal(guard, value) != normal(guard, base)) != (guard.negate != 0);
}

// A loop that the host wants stopped, or in which a node failed, ends as if its guard were false; the latter ends the loop
// around it too, so that no loop waits for a sample that faults each time. `around` is the word that ends that one, or null.
__device__ inline void decide(condition_t condition, const Guard& guard, Record* record, Outcome* outcome, word_t* around,
                              const volatile word_t* stop, long long limit) {
    const bool failed = record->failed != 0;
    if (failed && around != nullptr) *around = 1;
    const bool going = !failed && holds(guard, record, outcome) && *stop == 0;
    const bool spent = limit >= 0 && record->iterations >= static_cast<long_t>(limit);
    record->limited = going && spent;
    answer(condition, going && !spent);
}

}  // namespace eagle

// Right before a conditional that runs once.
extern "C" __global__ void eagle_decide(condition_t condition, const eagle::Guard* guard, eagle::Record* record,
                                        eagle::Outcome* outcome) {
    eagle::answer(condition, outcome->halted == 0 && eagle::holds(*guard, record, outcome));
}

// Right before what cannot look for itself.
extern "C" __global__ void eagle_unless_halted(condition_t condition, const eagle::Outcome* outcome) {
    eagle::answer(condition, outcome->halted == 0);
}

// Right before a loop.
extern "C" __global__ void eagle_enter(condition_t condition, const eagle::Guard* guard, eagle::Record* record,
                                       eagle::Outcome* outcome, word_t* around, const volatile word_t* stop,
                                       long long limit) {
    if (outcome->halted != 0) {  // the record stays that of the last repetition that ran
        eagle::answer(condition, 0);
        return;
    }
    record->iterations = 0;
    record->failed = 0;
    record->entered = 1;
    eagle::decide(condition, *guard, record, outcome, around, stop, limit);
}

// Last in the body of a loop.
extern "C" __global__ void eagle_again(condition_t condition, const eagle::Guard* guard, eagle::Record* record,
                                       eagle::Outcome* outcome, word_t* around, const volatile word_t* stop,
                                       long long limit) {
    record->iterations += 1;
    eagle::decide(condition, *guard, record, outcome, around, stop, limit);
}
