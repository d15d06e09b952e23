// One block of a plane, any stride, through the lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "eagle/reduce/vectors.h"

namespace eagle::reduce {

constexpr int64_t kBlock = 4096;    // elements

// Where a plane's elements are, in logical order. The stride is in bytes, and may be 0 or negative.
struct Strided {
    const char* first;
    int64_t stride;

    const char* at(int64_t i) const noexcept { return first + i * stride; }
};

// The result of elements begin .. begin + count, with count from 1 to kBlock.
template <class Op, int Bytes>
EAGLE_INLINE typename Op::Result block(const Strided& x, int64_t begin, int64_t count) noexcept {
    using Item = typename Op::Item;
    constexpr int64_t kItem = sizeof(Item), kTogether = 8 * kLanes;
    typename Op::template Block<Bytes> lanes;
    const char* from = x.at(begin);
    const int64_t rows = count / kLanes;
    if (x.stride == kItem) {
        for (int64_t row = 0; row < rows; ++row, from += kLanes * kItem) lanes.add(reinterpret_cast<const Item*>(from));
    } else {
        // Several rows at a time: a vector load right behind the narrow stores it reads from would wait for them.
        Item together[kTogether];
        for (int64_t left = rows * kLanes; left > 0; left -= kTogether) {
            const int64_t now = std::min(left, kTogether);
            for (int64_t i = 0; i < now; ++i, from += x.stride) std::memcpy(together + i, from, sizeof(Item));
            for (int64_t i = 0; i < now; i += kLanes) lanes.add(together + i);
        }
    }
    if (rows * kLanes < count) {
        Item last[kLanes];
        for (int64_t i = 0; i < kLanes; ++i) last[i] = Op::padding();
        for (int64_t i = 0; i < count - rows * kLanes; ++i, from += x.stride) std::memcpy(last + i, from, sizeof(Item));
        lanes.add(last);
    }
    return lanes.folded();
}

}  // namespace eagle::reduce
