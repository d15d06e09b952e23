// What CUDA C++ source finds in place of NVIDIA's device headers when it is compiled for the emulated device. Included
// before the source; the kernels are described after it.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "../abi.hpp"

extern "C" {
eagle::emu::abi::Thread* eagle_thread;
const eagle::emu::abi::Services* eagle_services;
}

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __cudart_builtin__
#define CUDARTAPI
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
// One copy will do: blocks run one after another. Dynamic shared memory is rewritten before compilation.
#define __shared__ static
#define threadIdx (eagle_thread->thread)
#define blockIdx (eagle_thread->block)
#define blockDim (eagle_thread->block_size)
#define gridDim (eagle_thread->grid)
constexpr int warpSize = 32;

typedef unsigned long long cudaGraphConditionalHandle;
#define cudaGraphSetConditional eagle_set_conditional
extern "C" __attribute__((noinline)) inline void eagle_set_conditional(cudaGraphConditionalHandle handle, unsigned value) {
  eagle_services->set_condition(handle, value);
}

inline void __syncthreads() { eagle_services->barrier(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// Threads run one at a time and change only at barriers, so these are atomic as they stand.
template <class T, class Change>
T eagle_change(T* at, Change change) {
  T before = *at;
  *at = change(before);
  return before;
}
template <class T> struct eagle_same { typedef T type; };
template <class T> using eagle_as = typename eagle_same<T>::type;  // takes no part in deduction
template <class T> T atomicAdd(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return T(x + v); }); }
template <class T> T atomicSub(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return T(x - v); }); }
template <class T> T atomicMin(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return v < x ? v : x; }); }
template <class T> T atomicMax(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return x < v ? v : x; }); }
template <class T> T atomicAnd(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return T(x & v); }); }
template <class T> T atomicOr(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return T(x | v); }); }
template <class T> T atomicXor(T* at, eagle_as<T> v) { return eagle_change(at, [=](T x) { return T(x ^ v); }); }
template <class T> T atomicExch(T* at, eagle_as<T> v) { return eagle_change(at, [=](T) { return v; }); }
template <class T> T atomicCAS(T* at, eagle_as<T> expected, eagle_as<T> v) {
  return eagle_change(at, [=](T x) { return x == expected ? v : x; });
}

template <class To, class From>
To eagle_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
inline int __float_as_int(float x) { return eagle_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return eagle_bits<unsigned>(x); }
inline float __int_as_float(int x) { return eagle_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return eagle_bits<float>(x); }
inline long long __double_as_longlong(double x) { return eagle_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return eagle_bits<double>(x); }

// Rounded to nearest and never contracted, as the compiler is told for everything else too.
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
inline float __fmaf_rn(float x, float y, float z) { return std::fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

// Describes a kernel to the driver: how to call it from an array of pointers to its parameters, and their layout.
template <unsigned... I> struct eagle_indices {};
template <unsigned N, unsigned... I> struct eagle_count : eagle_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct eagle_count<0, I...> { typedef eagle_indices<I...> type; };

template <class T> struct eagle_plain { typedef T type; };
template <class T> struct eagle_plain<const T> { typedef T type; };

template <auto kernel> struct EagleKernel;
template <class... P, void (*kernel)(P...)>
struct EagleKernel<kernel> {
  static constexpr unsigned count = sizeof...(P);
  struct Layout {
    unsigned long sizes[count + 1] = {}, offsets[count + 1] = {};
    constexpr Layout() {
      unsigned long size[] = {sizeof(P)..., 0}, alignment[] = {alignof(P)..., 1}, at = 0;
      for (unsigned i = 0; i < count; ++i) {
        at = (at + alignment[i] - 1) / alignment[i] * alignment[i];
        sizes[i] = size[i];
        offsets[i] = at;
        at += size[i];
      }
    }
  };
  static constexpr Layout layout{};

  template <unsigned... I>
  static void pass([[maybe_unused]] void** parameters, eagle_indices<I...>) {
    kernel(*static_cast<typename eagle_plain<P>::type*>(parameters[I])...);
  }
  static void call(void** parameters) { pass(parameters, typename eagle_count<count>::type{}); }
  static eagle::emu::abi::Kernel describe(const char* name, bool has_barrier) {
    return {name, call, (const void*)kernel, count, layout.sizes, layout.offsets, has_barrier};
  }
};
