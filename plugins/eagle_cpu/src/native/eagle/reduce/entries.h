// Which code reduces what, on the processor this runs on.
#pragma once

#include <cstdint>
#include <string_view>

#include "eagle/exec/abi.h"
#include "eagle/reduce/extreme.h"
#include "eagle/reduce/reduction.h"
#include "eagle/reduce/sum.h"
#include "eagle/reduce/truth.h"

namespace eagle::reduce {

// Widths there is code for, the narrowest first. They differ in speed alone.
enum class Width { narrow = 16, middle = 32, wide = 64 };

inline bool supported(Width width) noexcept {
#if defined(__x86_64__)
    if (width == Width::wide)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (width == Width::middle) return __builtin_cpu_supports("avx2");
#endif
    return width == Width::narrow;
}

inline Width widest() noexcept {
    for (const Width width : {Width::wide, Width::middle})
        if (supported(width)) return width;
    return Width::narrow;
}

// Takes in one block, the last argument, that code fused with a reduction has reduced to lanes: see `take_block`.
using Take = void (*)(void* reduction, const void* lanes, int64_t block) noexcept;

// The code of one operation over elements of one dtype: the job by itself, and what fused code calls. Empty: there is none.
struct Entries {
    eagle_entry run = nullptr;
    Take take = nullptr;
};

namespace detail {

template <class Op>
int32_t run_narrow(void* args, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    return run_reduction<Op, 16>(args, begin, end, run);
}
template <class Op>
void take_narrow(void* reduction, const void* lanes, int64_t block) noexcept {
    take_block<Op, 16>(reduction, lanes, block);
}

#if defined(__x86_64__)
#define EAGLE_MIDDLE __attribute__((target("avx2")))
#define EAGLE_WIDE __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
template <class Op>
EAGLE_MIDDLE int32_t run_middle(void* args, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    return run_reduction<Op, 32>(args, begin, end, run);
}
template <class Op>
EAGLE_MIDDLE void take_middle(void* reduction, const void* lanes, int64_t block) noexcept {
    take_block<Op, 32>(reduction, lanes, block);
}
template <class Op>
EAGLE_WIDE int32_t run_wide(void* args, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    return run_reduction<Op, 64>(args, begin, end, run);
}
template <class Op>
EAGLE_WIDE void take_wide(void* reduction, const void* lanes, int64_t block) noexcept {
    take_block<Op, 64>(reduction, lanes, block);
}
#undef EAGLE_MIDDLE
#undef EAGLE_WIDE
#endif

template <class Op>
Entries entries_for(Width width) noexcept {
#if defined(__x86_64__)
    if (width == Width::wide) return {run_wide<Op>, take_wide<Op>};
    if (width == Width::middle) return {run_middle<Op>, take_middle<Op>};
#endif
    if (width == Width::narrow) return {run_narrow<Op>, take_narrow<Op>};
    return {};
}

template <class T>
Entries entries_over(std::string_view op, Width width) noexcept {
    if (op == "sum") return entries_for<SumOf<T>>(width);
    if (op == "max") return entries_for<ExtremeOf<T, true>>(width);
    if (op == "min") return entries_for<ExtremeOf<T, false>>(width);
    return {};
}

}  // namespace detail

// The code of an operation ("sum max min all any") over elements of a dtype, by NumPy's name.
inline Entries entries(std::string_view op, std::string_view dtype, Width width = widest()) noexcept {
    if (dtype == "float64") return detail::entries_over<double>(op, width);
    if (dtype == "float32") return detail::entries_over<float>(op, width);
    if (dtype == "int64") return detail::entries_over<int64_t>(op, width);
    if (dtype == "int32") return detail::entries_over<int32_t>(op, width);
    if (dtype != "bool") return {};
    if (op == "all") return detail::entries_for<TruthOf<true>>(width);
    if (op == "any") return detail::entries_for<TruthOf<false>>(width);
    return {};
}

}  // namespace eagle::reduce
