// Elements from one array to another of the same shape, any strides, as a job over the elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "eagle/exec/abi.h"
#include "eagle/exec/job.h"

namespace eagle::exec {

// Steps are in bytes, and may be negative.
struct CopyAxis {
    int64_t count, from, into;
};

// What `run_copy` is handed. `axes` axes lie behind it, the outermost first. The arrays share no byte.
struct Copy {
    const char* from;
    char* into;
    int64_t item;    // bytes of an element
    int64_t axes;

    const CopyAxis* axis() const noexcept { return reinterpret_cast<const CopyAxis*>(this + 1); }
};

// Python writes these as words of 64 bits.
static_assert(sizeof(CopyAxis) == 24 && sizeof(Copy) == 32);

namespace detail {

// Rows of elements, all of them from one place on in each array.
struct CopyBlock {
    const char* from;
    char* into;
    CopyAxis rows, items;
};

template <std::size_t Bytes>
struct Fixed {
    constexpr std::size_t operator()() const noexcept { return Bytes; }
};

template <class Size>
void copy_items(const CopyBlock& block, Size item) noexcept {
    const CopyAxis rows = block.rows, items = block.items;    // what is written could be them, for all the compiler knows
    const char* from = block.from;
    char* into = block.into;
    for (int64_t row = 0; row < rows.count; ++row, from += rows.from, into += rows.into)
        for (int64_t i = 0; i < items.count; ++i) std::memcpy(into + i * items.into, from + i * items.from, item());
}

inline void copy_block(const CopyBlock& block, int64_t item) noexcept {
    constexpr int64_t kWorthCalling = 128;    // bytes: below, the call takes longer than the copy
    const bool dense = block.items.from == item && block.items.into == item;
    if (dense && block.items.count * item >= kWorthCalling) {
        const auto bytes = static_cast<std::size_t>(block.items.count * item);
        copy_items({block.from, block.into, {1, 0, 0}, block.rows}, [bytes] { return bytes; });
        return;
    }
    switch (item) {
        case 1: return copy_items(block, Fixed<1>{});
        case 2: return copy_items(block, Fixed<2>{});
        case 4: return copy_items(block, Fixed<4>{});
        case 8: return copy_items(block, Fixed<8>{});
        default: return copy_items(block, [item] { return static_cast<std::size_t>(item); });
    }
}

// The elements from `at` on that make a block: whole rows next to each other, or a part of one; at most `most`.
inline CopyBlock block_at(const Copy& copy, int64_t at, int64_t most) noexcept {
    const CopyAxis& items = copy.axis()[copy.axes - 1];
    int64_t row = at / items.count;
    const int64_t column = at - row * items.count;
    CopyBlock block{copy.from + column * items.from, copy.into + column * items.into, {1, 0, 0}, items};
    if (column != 0 || most < items.count) {
        block.items.count = std::min(items.count - column, most);
    } else if (copy.axes > 1) {
        block.rows = copy.axis()[copy.axes - 2];
        block.rows.count = std::min(block.rows.count - row % block.rows.count, most / items.count);
    }
    for (int64_t a = copy.axes - 2; a >= 0; --a) {
        const CopyAxis& axis = copy.axis()[a];
        const int64_t rest = row / axis.count, index = row - rest * axis.count;
        block.from += index * axis.from;
        block.into += index * axis.into;
        row = rest;
    }
    return block;
}

}  // namespace detail

// An `eagle_entry` over the elements, counted with the last axis running fastest.
inline int32_t run_copy(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    constexpr int64_t kBytesPerLook = 1 << 19;
    const Copy& copy = *static_cast<const Copy*>(args);
    const int64_t per_look = std::max<int64_t>(kBytesPerLook / std::max<int64_t>(copy.item, 1), 1);
    for (int64_t at = begin, look = begin + per_look; at < end;) {
        const detail::CopyBlock block = detail::block_at(copy, at, std::min(end - at, per_look));
        detail::copy_block(block, copy.item);
        at += block.rows.count * block.items.count;
        if (at < look) continue;
        look = at + per_look;
        run->poll(run);
        if (at < end && asked_to_stop(run)) return -1;
    }
    return 0;
}

}  // namespace eagle::exec
