// The largest or smallest element of one block: NaN if there is one, and +0 above -0. Any order gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "eagle/reduce/vectors.h"

namespace eagle::reduce {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T, bool Largest>
struct ExtremeOf {
    template <int Bytes>
    class Block;

    using Item = T;
    using Result = T;
    using Again = ExtremeOf;
    using Zero = ExtremeOf<BitsOf<T>, Largest>;
    static constexpr bool kInOrder = true, kZeros = std::is_floating_point_v<T>;

    // Never beyond any other number.
    static constexpr Item padding() noexcept {
        using Limits = std::numeric_limits<T>;
        if constexpr (std::is_floating_point_v<T>) return Largest ? -Limits::infinity() : Limits::infinity();
        return Largest ? Limits::min() : Limits::max();
    }
    static constexpr Result of_nothing() noexcept { return padding(); }    // refused at build
    static constexpr Item rounded(Result extreme) noexcept { return extreme; }

    // A comparison does not tell zeros apart. Where the extreme is one, all is of one sign but for the zeros, and the
    // extreme of the bits as integers tells which there are.
    static Result zero(BitsOf<T> extreme) noexcept { return static_cast<T>(extreme < 0 ? -0.0 : 0.0); }
};

// The largest or smallest of many numbers; anything where there is a NaN.
template <class T, int Bytes, bool Largest>
class Running {
  public:
    using V = Vector<T, Bytes>;

    EAGLE_INLINE Running() noexcept {
        for (V& best : best_) splat(best, kWorst);
    }

    EAGLE_INLINE void add(const V& items, int turn) noexcept {
        V& best = best_[turn % kAhead];
        best = items > best ? (Largest ? items : best) : (Largest ? best : items);
    }

    EAGLE_INLINE T folded() const noexcept {
        T all[kAhead * Bytes / int{sizeof(T)}], best = kWorst;
        std::memcpy(all, best_, sizeof all);
        for (const T item : all) best = (Largest ? item > best : item < best) ? item : best;
        return best;
    }

  private:
    static constexpr T kWorst = ExtremeOf<T, Largest>::padding();
    static constexpr int kAhead = 2;    // chains side by side hide the latency of each

    V best_[kAhead];
};

template <class T, bool Largest>
template <int Bytes>
class ExtremeOf<T, Largest>::Block {
  public:
    EAGLE_INLINE void add(const T* row) noexcept {
#pragma GCC unroll 64
        for (int i = 0; i < kVectors; ++i) {
            typename Running<T, Bytes, Largest>::V items;
            load(items, row + i * kPerVector);
            extreme_.add(items, i);
            if constexpr (std::is_floating_point_v<T>) {
                typename Running<Bits, Bytes, true>::V bits;
                load(bits, row + i * kPerVector);
                size_.add(bits & std::numeric_limits<Bits>::max(), i);
            }
        }
    }

    EAGLE_INLINE Result folded() const noexcept {
        if constexpr (std::is_floating_point_v<T>)
            if (size_.folded() > kInfinity) return std::numeric_limits<T>::quiet_NaN();
        return extreme_.folded();
    }

  private:
    using Bits = BitsOf<T>;
    static constexpr Bits kInfinity = sizeof(T) == 4 ? Bits{0x7f800000} : static_cast<Bits>(0x7ff0000000000000);
    static constexpr int kPerVector = Bytes / sizeof(T);
    static constexpr int kVectors = kLanes / kPerVector;

    Running<T, Bytes, Largest> extreme_;
    Running<Bits, Bytes, true> size_;    // of floats: the bits without the sign, which are larger for NaN than for infinity
};

}  // namespace eagle::reduce
