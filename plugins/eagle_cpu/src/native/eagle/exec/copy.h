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

template <class Size>
void copy_items(const char* from, char* into, const CopyAxis& step, int64_t count, Size item) noexcept {
    for (int64_t i = 0; i < count; ++i) std::memcpy(into + i * step.into, from + i * step.from, item());
}

template <std::size_t Bytes>
struct Fixed {
    constexpr std::size_t operator()() const noexcept { return Bytes; }
};

// Elements of one row: in one go where they are dense in both arrays.
inline void copy_row(const char* from, char* into, const CopyAxis& step, int64_t count, int64_t item) noexcept {
    const auto bytes = static_cast<std::size_t>(item);
    if (step.from == item && step.into == item) {
        std::memcpy(into, from, static_cast<std::size_t>(count) * bytes);
        return;
    }
    switch (item) {
        case 1: return copy_items(from, into, step, count, Fixed<1>{});
        case 2: return copy_items(from, into, step, count, Fixed<2>{});
        case 4: return copy_items(from, into, step, count, Fixed<4>{});
        case 8: return copy_items(from, into, step, count, Fixed<8>{});
        default: return copy_items(from, into, step, count, [bytes] { return bytes; });
    }
}

}  // namespace detail

// An `eagle_entry` over the elements, counted with the last axis running fastest.
inline int32_t run_copy(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    constexpr int64_t kBytesPerLook = 1 << 19;
    const Copy& copy = *static_cast<const Copy*>(args);
    const int64_t per_look = std::max<int64_t>(kBytesPerLook / std::max<int64_t>(copy.item, 1), 1);
    const CopyAxis& inner = copy.axis()[copy.axes - 1];
    for (int64_t at = begin, look = begin + per_look; at < end;) {
        int64_t row = at / inner.count;
        const int64_t column = at - row * inner.count;
        int64_t from = column * inner.from, into = column * inner.into;
        for (int64_t a = copy.axes - 2; a >= 0; --a) {
            const CopyAxis& axis = copy.axis()[a];
            const int64_t rest = row / axis.count, index = row - rest * axis.count;
            from += index * axis.from;
            into += index * axis.into;
            row = rest;
        }
        const int64_t count = std::min({inner.count - column, end - at, per_look});
        detail::copy_row(copy.from + from, copy.into + into, inner, count, copy.item);
        at += count;
        if (at < look) continue;
        look = at + per_look;
        run->poll(run);
        if (at < end && asked_to_stop(run)) return -1;
    }
    return 0;
}

}  // namespace eagle::exec
