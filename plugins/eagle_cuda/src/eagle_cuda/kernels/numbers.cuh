// Arithmetic as the IR says it, where CUDA C++ says nothing or something else. Before every generated kernel.

namespace eagle {

typedef unsigned char u8;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

template <typename T> struct Unsigned;
template <> struct Unsigned<i32> { typedef u32 type; };
template <> struct Unsigned<u32> { typedef u32 type; };
template <> struct Unsigned<i64> { typedef u64 type; };
template <typename T> using bits = typename Unsigned<T>::type;

template <typename T> __device__ inline T infinity();
template <> __device__ inline double infinity<double>() { return __longlong_as_double(0x7ff0000000000000LL); }
template <> __device__ inline float infinity<float>() { return __int_as_float(0x7f800000); }
template <typename T> __device__ inline T not_a_number();
template <> __device__ inline double not_a_number<double>() { return __longlong_as_double(0x7ff8000000000000LL); }
template <> __device__ inline float not_a_number<float>() { return __int_as_float(0x7fc00000); }

__device__ inline bool sign(double a) { return __double_as_longlong(a) < 0; }
__device__ inline bool sign(float a) { return __float_as_int(a) < 0; }
__device__ inline double size(double a) { return ::fabs(a); }
__device__ inline float size(float a) { return ::fabsf(a); }
template <typename T> __device__ inline bool is_finite(T a) { return size(a) < infinity<T>(); }

// Integers: two's complement and wrapping, in unsigned arithmetic, where overflow is defined.
template <typename T> __device__ inline T add_(T a, T b) { return static_cast<T>(bits<T>(a) + bits<T>(b)); }
template <typename T> __device__ inline T sub_(T a, T b) { return static_cast<T>(bits<T>(a) - bits<T>(b)); }
template <typename T> __device__ inline T mul_(T a, T b) { return static_cast<T>(bits<T>(a) * bits<T>(b)); }
template <typename T> __device__ inline T neg_(T a) { return static_cast<T>(bits<T>(0) - bits<T>(a)); }
template <typename T> __device__ inline T abs_(T a) { return a < 0 ? neg_(a) : a; }
template <> __device__ inline u32 abs_(u32 a) { return a; }
template <typename To, typename From> __device__ inline To narrow(From a) {
    return static_cast<To>(static_cast<bits<To>>(static_cast<bits<From>>(a)));
}

// A count outside 0..width-1 shifts as a wider integer would.
template <typename T> __device__ inline T shl_(T a, T b) {
    return bits<T>(b) < 8 * sizeof(T) ? static_cast<T>(bits<T>(a) << b) : T(0);
}
template <typename T> __device__ inline T shr_(T a, T b) {
    return bits<T>(b) < 8 * sizeof(T) ? static_cast<T>(a >> b) : a < T(0) ? static_cast<T>(-1) : T(0);
}

__device__ inline i32 smallest(i32) { return -2147483647 - 1; }
__device__ inline i64 smallest(i64) { return -9223372036854775807LL - 1; }

// Floored, by a divisor that is not 0. The smallest integer by -1 wraps, and leaves no remainder.
template <typename T> __device__ inline T floordiv_(T a, T b) {
    if (a == smallest(a) && b == T(-1)) return a;
    const T quotient = a / b, rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}
template <typename T> __device__ inline T mod_(T a, T b) {
    if (b == T(-1)) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <> __device__ inline u32 floordiv_(u32 a, u32 b) { return a / b; }
template <> __device__ inline u32 mod_(u32 a, u32 b) { return a % b; }

// Floats: the floored quotient and the remainder with the divisor's sign, by NumPy's rule.
__device__ inline double rest_of(double a, double b) { return ::fmod(a, b); }
__device__ inline float rest_of(float a, float b) { return ::fmodf(a, b); }
__device__ inline double floor_of(double a) { return ::floor(a); }
__device__ inline float floor_of(float a) { return ::floorf(a); }
__device__ inline double with_sign(double a, double b) { return ::copysign(a, b); }
__device__ inline float with_sign(float a, float b) { return ::copysignf(a, b); }

template <typename T> __device__ inline T float_floordiv(T a, T b) {
    if (b == 0) return a / b;
    const T rest = rest_of(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient = quotient - 1;
    if (quotient == 0) return with_sign(T(0), a / b);
    const T whole = floor_of(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
}
template <typename T> __device__ inline T float_mod(T a, T b) {
    const T rest = rest_of(a, b);
    if (b == 0) return rest;
    if (rest == 0) return with_sign(T(0), b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}
template <> __device__ inline double floordiv_(double a, double b) { return float_floordiv(a, b); }
template <> __device__ inline float floordiv_(float a, float b) { return float_floordiv(a, b); }
template <> __device__ inline double mod_(double a, double b) { return float_mod(a, b); }
template <> __device__ inline float mod_(float a, float b) { return float_mod(a, b); }

// NaN if either is; +0 is larger than -0.
template <typename T> __device__ inline T min_(T a, T b) { return b < a ? b : a; }
template <typename T> __device__ inline T max_(T a, T b) { return a < b ? b : a; }
template <typename T> __device__ inline T float_min(T a, T b) {
    if (a != a || b != b) return a + b;
    return a == b ? (sign(a) ? a : b) : a < b ? a : b;
}
template <typename T> __device__ inline T float_max(T a, T b) {
    if (a != a || b != b) return a + b;
    return a == b ? (sign(a) ? b : a) : a > b ? a : b;
}
template <> __device__ inline double min_(double a, double b) { return float_min(a, b); }
template <> __device__ inline float min_(float a, float b) { return float_min(a, b); }
template <> __device__ inline double max_(double a, double b) { return float_max(a, b); }
template <> __device__ inline float max_(float a, float b) { return float_max(a, b); }

template <typename T> __device__ inline bool isnan_(T a) { return a != a; }
template <typename T> __device__ inline bool isinf_(T a) { return size(a) == infinity<T>(); }

// Whether a float, truncated, is a number of an integer type. Every bound is a double; NaN fits nowhere.
template <typename To> __device__ inline bool fits(double a);
template <> __device__ inline bool fits<i32>(double a) { return a > -2147483649.0 && a < 2147483648.0; }
template <> __device__ inline bool fits<u32>(double a) { return a > -1.0 && a < 4294967296.0; }
template <> __device__ inline bool fits<i64>(double a) { return a >= -9223372036854775808.0 && a < 9223372036854775808.0; }

__device__ inline bool outside(i64 index, i64 length) { return static_cast<u64>(index) >= static_cast<u64>(length); }

}  // namespace eagle
