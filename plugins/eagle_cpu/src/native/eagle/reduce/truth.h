// Whether all elements of one block, or any, are true: a byte that is not 0.
#pragma once

#include <cstdint>
#include <cstring>

#include "eagle/reduce/vectors.h"

namespace eagle::reduce {

// Looks for one element that settles it: a false one for `all`, a true one for `any`.
template <bool All>
struct TruthOf {
    template <int Bytes>
    class Block;

    using Item = uint8_t;
    using Result = bool;
    using Settled = TruthOf<false>;    // whether a lane has settled it
    static constexpr bool kInOrder = false, kZeros = false;

    static constexpr Item padding() noexcept { return All ? 1 : 0; }
    static constexpr Item of(bool settled) noexcept { return All ? !settled : settled; }
};

template <bool All>
template <int Bytes>
class TruthOf<All>::Block {
  public:
    EAGLE_INLINE Block() noexcept { splat(found_, uint8_t{0}); }

    EAGLE_INLINE void add(const uint8_t* row) noexcept {
#pragma GCC unroll 64
        for (int i = 0; i < kVectors; ++i) {
            V items;
            load(items, row + i * Bytes);
            if constexpr (All)
                found_ |= reinterpret_cast<V>(items == 0);
            else
                found_ |= items;
        }
    }

    EAGLE_INLINE Result folded() const noexcept {
        uint64_t words[Bytes / 8], any = 0;
        std::memcpy(words, &found_, sizeof words);
        for (const uint64_t word : words) any |= word;
        return any != 0;
    }

  private:
    using V = Vector<uint8_t, Bytes>;
    static constexpr int kVectors = kLanes / Bytes;

    V found_;
};

}  // namespace eagle::reduce
