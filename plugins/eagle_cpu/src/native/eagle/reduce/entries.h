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

namespace detail {

template <class Op>
int32_t narrow(void* args, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    return run_reduction<Op, 16>(args, begin, end, run);
}

#if defined(__x86_64__)
template <class Op>
__attribute__((target("avx2"))) int32_t middle(void* args, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    return run_reduction<Op, 32>(args, begin, end, run);
}

template <class Op>
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))) int32_t wide(void* args, int64_t begin, int64_t end,
                                                                           const eagle_run* run) noexcept {
    return run_reduction<Op, 64>(args, begin, end, run);
}
#endif

template <class Op>
eagle_entry entry_for(Width width) noexcept {
#if defined(__x86_64__)
    if (width == Width::wide) return wide<Op>;
    if (width == Width::middle) return middle<Op>;
#endif
    return width == Width::narrow ? narrow<Op> : nullptr;
}

template <class T>
eagle_entry entry_over(std::string_view op, Width width) noexcept {
    if (op == "sum") return entry_for<SumOf<T>>(width);
    if (op == "max") return entry_for<ExtremeOf<T, true>>(width);
    if (op == "min") return entry_for<ExtremeOf<T, false>>(width);
    return nullptr;
}

}  // namespace detail

// The code of an operation ("sum max min all any") over elements of a dtype, by NumPy's name; nothing where there is none.
inline eagle_entry entry(std::string_view op, std::string_view dtype, Width width = widest()) noexcept {
    if (dtype == "float64") return detail::entry_over<double>(op, width);
    if (dtype == "float32") return detail::entry_over<float>(op, width);
    if (dtype == "int64") return detail::entry_over<int64_t>(op, width);
    if (dtype == "int32") return detail::entry_over<int32_t>(op, width);
    if (dtype != "bool") return nullptr;
    if (op == "all") return detail::entry_for<TruthOf<true>>(width);
    if (op == "any") return detail::entry_for<TruthOf<false>>(width);
    return nullptr;
}

}  // namespace eagle::reduce
