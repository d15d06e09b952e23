// A 1-D array into one element, in the documented order: blocks of 4096 elements, 64 lanes each, lanes folded by halves.
// A launch makes one value of each block; launches follow until one is left.

typedef unsigned char byte_t;
typedef unsigned int word_t;
typedef unsigned long long long_t;

namespace eagle {

constexpr int lanes = 64;
constexpr long long block = 4096;

// An element need not be aligned: it may be a field of a packed structure.
template <typename T, bool aligned>
__device__ inline T load(const byte_t* address) {
    if (aligned) return *reinterpret_cast<const T*>(address);
    T value;
    for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) reinterpret_cast<byte_t*>(&value)[i] = address[i];
    return value;
}

template <typename T>
__device__ inline void store(byte_t* address, T value) {
    for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) address[i] = reinterpret_cast<const byte_t*>(&value)[i];
}

__device__ inline bool negative(double value) { return *reinterpret_cast<const long long*>(&value) < 0; }
__device__ inline bool negative(long long value) { return value < 0; }
__device__ inline bool negative(int value) { return value < 0; }

struct Sum {
    __device__ static double of(double a, double b) { return a + b; }
    __device__ static long_t of(long_t a, long_t b) { return a + b; }  // integers wrap
    __device__ static word_t of(word_t a, word_t b) { return a + b; }
};

// NaN wins, and +0 is larger than -0.
struct Max {
    template <typename T>
    __device__ static T of(T a, T b) {
        if (a != a) return a;
        if (b != b) return b;
        return a == b ? (negative(a) ? b : a) : a > b ? a : b;
    }
};

struct Min {
    template <typename T>
    __device__ static T of(T a, T b) {
        if (a != a) return a;
        if (b != b) return b;
        return a == b ? (negative(a) ? a : b) : a < b ? a : b;
    }
};

struct All {
    __device__ static byte_t of(byte_t a, byte_t b) { return a & b; }
};

struct Any {
    __device__ static byte_t of(byte_t a, byte_t b) { return a | b; }
};

template <typename Work, typename In>
__device__ inline Work widened(In value) { return static_cast<Work>(value); }
template <>
__device__ inline byte_t widened<byte_t, byte_t>(byte_t value) { return value != 0; }  // any byte but 0 is true

// What a lane makes of its elements of a block, of which there is one at least. Eight loads are under way before the first
// is used, so that memory is kept busy; what they give is taken in the documented order.
template <typename Op, typename In, typename Work, bool aligned>
__device__ inline Work lane_of(const byte_t* x, long long stride, long long count, int lane) {
    constexpr int batch = 8;
    Work value = widened<Work>(load<In, aligned>(x + lane * stride));
    long long i = lane + lanes;
    for (; i + (batch - 1) * lanes < count; i += batch * lanes) {
        In loaded[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k) loaded[k] = load<In, aligned>(x + (i + k * lanes) * stride);
#pragma unroll
        for (int k = 0; k < batch; ++k) value = Op::of(value, widened<Work>(loaded[k]));
    }
    for (; i < count; i += lanes) value = Op::of(value, widened<Work>(load<In, aligned>(x + i * stride)));
    return value;
}

template <typename Op, typename In, typename Work, typename Out>
__device__ inline void reduce(const byte_t* x, long long stride, long long n, byte_t* out, Out empty) {
    __shared__ Work values[lanes];
    const long long first = static_cast<long long>(blockIdx.x) * block;
    const long long count = n - first < block ? n - first : block;
    const int lane = threadIdx.x;
    if (lane < count) {
        const byte_t* begin = x + first * stride;
        const bool aligned = (reinterpret_cast<long_t>(x) | static_cast<long_t>(stride)) % sizeof(In) == 0;
        values[lane] = aligned ? lane_of<Op, In, Work, true>(begin, stride, count, lane)
                               : lane_of<Op, In, Work, false>(begin, stride, count, lane);
    }
    __syncthreads();
    long long present = count < lanes ? count : lanes;
    for (int half = lanes / 2; half > 0; half /= 2) {
        if (lane < half && lane + half < present) values[lane] = Op::of(values[lane], values[lane + half]);
        if (present > half) present = half;
        __syncthreads();
    }
    if (lane == 0)
        store<Out>(out + blockIdx.x * sizeof(Out), n == 0 ? empty : static_cast<Out>(values[0]));
}

}  // namespace eagle

// eagle_OP_IN_OUT: reads IN, writes OUT; float is added and compared as double.
extern "C" __global__ void eagle_sum_float64_float64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Sum, double, double, double>(x, stride, n, out, static_cast<double>(empty));
}
extern "C" __global__ void eagle_sum_float32_float64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Sum, float, double, double>(x, stride, n, out, static_cast<double>(empty));
}
extern "C" __global__ void eagle_sum_float64_float32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Sum, double, double, float>(x, stride, n, out, static_cast<float>(empty));
}
extern "C" __global__ void eagle_sum_float32_float32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Sum, float, double, float>(x, stride, n, out, static_cast<float>(empty));
}
extern "C" __global__ void eagle_sum_int32_int32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                 int empty) {
    eagle::reduce<eagle::Sum, word_t, word_t, word_t>(x, stride, n, out, static_cast<word_t>(empty));
}
extern "C" __global__ void eagle_sum_int64_int64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                 int empty) {
    eagle::reduce<eagle::Sum, long_t, long_t, long_t>(x, stride, n, out, static_cast<long_t>(empty));
}
extern "C" __global__ void eagle_max_float64_float64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Max, double, double, double>(x, stride, n, out, static_cast<double>(empty));
}
extern "C" __global__ void eagle_max_float32_float32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Max, float, double, float>(x, stride, n, out, static_cast<float>(empty));
}
extern "C" __global__ void eagle_max_int32_int32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                 int empty) {
    eagle::reduce<eagle::Max, int, int, int>(x, stride, n, out, static_cast<int>(empty));
}
extern "C" __global__ void eagle_max_int64_int64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                 int empty) {
    eagle::reduce<eagle::Max, long long, long long, long long>(x, stride, n, out, static_cast<long long>(empty));
}
extern "C" __global__ void eagle_min_float64_float64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Min, double, double, double>(x, stride, n, out, static_cast<double>(empty));
}
extern "C" __global__ void eagle_min_float32_float32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                     int empty) {
    eagle::reduce<eagle::Min, float, double, float>(x, stride, n, out, static_cast<float>(empty));
}
extern "C" __global__ void eagle_min_int32_int32(const byte_t* x, long long stride, long long n, byte_t* out,
                                                 int empty) {
    eagle::reduce<eagle::Min, int, int, int>(x, stride, n, out, static_cast<int>(empty));
}
extern "C" __global__ void eagle_min_int64_int64(const byte_t* x, long long stride, long long n, byte_t* out,
                                                 int empty) {
    eagle::reduce<eagle::Min, long long, long long, long long>(x, stride, n, out, static_cast<long long>(empty));
}
extern "C" __global__ void eagle_all_bool_bool(const byte_t* x, long long stride, long long n, byte_t* out,
                                               int empty) {
    eagle::reduce<eagle::All, byte_t, byte_t, byte_t>(x, stride, n, out, static_cast<byte_t>(empty));
}
extern "C" __global__ void eagle_any_bool_bool(const byte_t* x, long long stride, long long n, byte_t* out,
                                               int empty) {
    eagle::reduce<eagle::Any, byte_t, byte_t, byte_t>(x, stride, n, out, static_cast<byte_t>(empty));
}
