// A reduction for Python: its code, and what the code is handed.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "eagle/reduce/entries.h"

namespace eagle::python {

namespace nb = nanobind;

class PlannedReduction {
  public:
    PlannedReduction(const std::string& op, const std::string& dtype, uintptr_t address, int64_t stride, int64_t count,
                     uintptr_t out, int width)
        : code_(checked_code(op, dtype, width == 0 ? reduce::widest() : static_cast<reduce::Width>(width))),
          reduction_({reinterpret_cast<const char*>(address), stride}, checked_count(count), reinterpret_cast<void*>(out)) {}

    uintptr_t entry() const noexcept { return reinterpret_cast<uintptr_t>(code_.run); }
    uintptr_t take() const noexcept { return reinterpret_cast<uintptr_t>(code_.take); }
    uintptr_t args() noexcept { return reinterpret_cast<uintptr_t>(&reduction_); }
    void reset() noexcept { reduction_.reset(); }

  private:
    static reduce::Entries checked_code(const std::string& op, const std::string& dtype, reduce::Width width) {
        const reduce::Entries found = reduce::supported(width) ? reduce::entries(op, dtype, width) : reduce::Entries{};
        if (found.run == nullptr) {
            const std::string text = "no code for the " + op + " of " + dtype + " with vectors of " +
                                     std::to_string(static_cast<int>(width)) + " bytes on this processor";
            throw nb::value_error(text.c_str());
        }
        return found;
    }
    static int64_t checked_count(int64_t count) {
        if (count < 0) throw nb::value_error(("count is " + std::to_string(count) + ": pass 0 or more").c_str());
        return count;
    }

    reduce::Entries code_;
    reduce::Reduction reduction_;
};

inline void define_reductions(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PlannedReduction>(m, "Reduction")
        .def(nb::init<const std::string&, const std::string&, uintptr_t, int64_t, int64_t, uintptr_t, int>(), "op"_a,
             "dtype"_a, "address"_a, "stride"_a, "count"_a, "out"_a, "width"_a = 0)
        .def_prop_ro("entry", &PlannedReduction::entry)
        .def_prop_ro("take", &PlannedReduction::take)
        .def_prop_ro("args", &PlannedReduction::args)
        .def("reset", &PlannedReduction::reset);
    m.attr("REDUCTION_BLOCK") = reduce::kBlock;
    nb::list widths;
    for (const auto width : {reduce::Width::narrow, reduce::Width::middle, reduce::Width::wide})
        if (reduce::supported(width)) widths.append(static_cast<int>(width));
    m.attr("REDUCTION_WIDTHS") = nb::tuple(widths);
}

}  // namespace eagle::python
