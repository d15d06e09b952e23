// What loops over samples need beside the steps of their kernels.

typedef unsigned char byte_t;

// As `Loop` in samples.cuh.
struct Loop {
    unsigned long long next, longest, left;
};

extern "C" __global__ void eagle_loop_end(const Loop* loop, byte_t* all_done) { *all_done = loop->left == 0; }

// Before a step of several nodes: which samples run in it.
extern "C" __global__ void eagle_begin_step(const byte_t* mask, byte_t* running, long long* steps, long long samples) {
    const long long sample = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    running[sample] = mask[sample] == 0;
    if (steps != nullptr && running[sample]) ++steps[sample];
}

// After it: a sample that ran, and holds a NaN or an infinity, has failed. x - x is 0 for every other number.
template <typename T>
__device__ inline void end_step(const T* state, long long rows, long long row, const byte_t* running, byte_t* failed,
                                byte_t* mask, long long samples) {
    const long long sample = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (sample >= samples || !running[sample]) return;
    for (long long i = 0; i < rows; ++i) {
        const T value = state[sample + i * row];
        if (value - value == 0) continue;
        failed[sample] = 1;
        mask[sample] = 1;
    }
}

extern "C" __global__ void eagle_end_step_float64(const double* state, long long rows, long long row,
                                                  const byte_t* running, byte_t* failed, byte_t* mask,
                                                  long long samples) {
    end_step(state, rows, row, running, failed, mask, samples);
}

extern "C" __global__ void eagle_end_step_float32(const float* state, long long rows, long long row,
                                                  const byte_t* running, byte_t* failed, byte_t* mask,
                                                  long long samples) {
    end_step(state, rows, row, running, failed, mask, samples);
}
