// Vectors of a width that a template parameter says, and what they are compiled for.
//
// The same source is compiled once per width. Only elementwise operations are used, so the width changes no bit.
#pragma once

#include <cstdint>
#include <cstring>

#define EAGLE_INLINE inline __attribute__((always_inline))

namespace eagle::reduce {

// A row: element i of a block belongs to lane i mod 64, whatever the width.
constexpr int64_t kLanes = 64;

template <class T, int Bytes>
struct VectorOf {
    typedef T type __attribute__((vector_size(Bytes)));
};
template <class T, int Bytes>
using Vector = typename VectorOf<T, Bytes>::type;

// From memory of any alignment. Vectors go by reference: by value, their calling convention would depend on the processor.
template <class V>
EAGLE_INLINE void load(V& vector, const void* from) noexcept {
    std::memcpy(&vector, from, sizeof(V));
}

template <class V, class T>
EAGLE_INLINE void splat(V& vector, T value) noexcept {
    vector = value - V{};    // of all ways to write it, one that keeps the sign of -0
}

}  // namespace eagle::reduce
