// The sum of the lanes of one block.
#pragma once

#include <cstdint>
#include <cstring>

#include "eagle/reduce/vectors.h"

namespace eagle::reduce {

// What elements are added as. Integers wrap, which only unsigned ones may in C++.
template <class T>
struct Addend {
    using type = T;
};
template <>
struct Addend<float> {
    using type = double;
};
template <>
struct Addend<int32_t> {
    using type = uint32_t;
};
template <>
struct Addend<int64_t> {
    using type = uint64_t;
};

template <class T>
struct SumOf {
    template <int Bytes>
    class Block;

    using Item = T;
    using Result = typename Addend<T>::type;
    using Again = SumOf<Result>;    // what sums the blocks' results
    static constexpr bool kInOrder = true, kZeros = false;

    // Adding it changes nothing, not even a zero's sign: a lane padded with it gives the bits of a shorter one.
    static constexpr Item padding() noexcept { return static_cast<Item>(-0.0); }
    static constexpr Result of_nothing() noexcept { return 0; }

    // One pattern for every NaN: which of two NaNs an addition hands on is up to the compiler.
    static Item rounded(Result sum) noexcept {
        return static_cast<Item>(sum == sum ? sum : static_cast<Result>(__builtin_nan("")));
    }
};

template <class T>
template <int Bytes>
class SumOf<T>::Block {
  public:
    EAGLE_INLINE Block() noexcept {
        for (V& lanes : lanes_) splat(lanes, static_cast<Result>(-0.0));
    }

    EAGLE_INLINE void add(const T* row) noexcept {
#pragma GCC unroll 64
        for (int i = 0; i < kVectors; ++i) {
            Items items;
            load(items, row + i * kPerVector);
            lanes_[i] += __builtin_convertvector(items, V);
        }
    }

    // Lane l < h adds lane l + h, for h = 32, 16, 8, 4, 2, 1.
    EAGLE_INLINE Result folded() const noexcept {
        Result lanes[kLanes];
        std::memcpy(lanes, lanes_, sizeof lanes);
        for (int64_t half = kLanes / 2; half > 0; half /= 2)
            for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
        return lanes[0];
    }

  private:
    using V = Vector<Result, Bytes>;
    static constexpr int kPerVector = Bytes / sizeof(Result);
    static constexpr int kVectors = kLanes / kPerVector;
    using Items = Vector<T, kPerVector * sizeof(T)>;

    V lanes_[kVectors];
};

}  // namespace eagle::reduce
