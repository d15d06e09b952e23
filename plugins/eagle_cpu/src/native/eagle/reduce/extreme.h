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

// `Careful` floats tell NaN from infinities that are added to infinities of the other sign; others take both for NaN.
template <class T, bool Largest, bool Careful = false>
struct ExtremeOf {
    template <int Bytes>
    class Block;

    using Item = T;
    using Result = T;
    using Again = ExtremeOf;
    using Certain = ExtremeOf<T, Largest, true>;
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
        if constexpr (Largest)    // as processors compare and choose in one instruction
            best = items > best ? items : best;
        else
            best = items < best ? items : best;
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

// Whether there may be a NaN among many floats: their sum is one then.
template <class T, int Bytes>
class Suspicion {
  public:
    using V = Vector<T, Bytes>;

    EAGLE_INLINE void add(const V& items, int turn) noexcept { sum_[turn % kAhead] += items; }

    EAGLE_INLINE bool any() const noexcept {
        T all[kAhead * Bytes / int{sizeof(T)}], sum = 0;
        std::memcpy(all, sum_, sizeof all);
        for (const T item : all) sum += item;
        return sum != sum;
    }

  private:
    static constexpr int kAhead = 2;

    V sum_[kAhead] = {};
};

// Whether there is a NaN among many floats: their bits without the sign are larger for NaN than for infinity.
template <class T, int Bytes>
class Certainty {
  public:
    using V = Vector<T, Bytes>;

    EAGLE_INLINE void add(const V& items, int turn) noexcept {
        typename Running<Bits, Bytes, true>::V bits;
        load(bits, &items);
        size_.add(bits & std::numeric_limits<Bits>::max(), turn);
    }

    EAGLE_INLINE bool any() const noexcept { return size_.folded() > kInfinity; }

  private:
    using Bits = BitsOf<T>;
    static constexpr Bits kInfinity = sizeof(T) == 4 ? Bits{0x7f800000} : static_cast<Bits>(0x7ff0000000000000);

    Running<Bits, Bytes, true> size_;
};

struct NoNaN {
    template <class V>
    EAGLE_INLINE void add(const V&, int) noexcept {}
    EAGLE_INLINE bool any() const noexcept { return false; }
};

template <class T, bool Largest, bool Careful>
template <int Bytes>
class ExtremeOf<T, Largest, Careful>::Block {
  public:
    EAGLE_INLINE void add(const T* row) noexcept {
#pragma GCC unroll 64
        for (int i = 0; i < kVectors; ++i) {
            typename Running<T, Bytes, Largest>::V items;
            load(items, row + i * kPerVector);
            extreme_.add(items, i);
            nan_.add(items, i);
        }
    }

    EAGLE_INLINE Result folded() const noexcept {
        return nan_.any() ? std::numeric_limits<T>::quiet_NaN() : extreme_.folded();
    }

  private:
    static constexpr int kPerVector = Bytes / sizeof(T);
    static constexpr int kVectors = kLanes / kPerVector;

    Running<T, Bytes, Largest> extreme_;
    std::conditional_t<!std::is_floating_point_v<T>, NoNaN,
                       std::conditional_t<Careful, Certainty<T, Bytes>, Suspicion<T, Bytes>>>
        nan_;
};

}  // namespace eagle::reduce
