// A sequence of jobs made once and run many times, with the arrays its code was made for.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "eagle/exec/run.h"
#include "planes.h"
#include "python_watch.h"

namespace eagle::python {

// Refuses what no run could make sense of; messages name what was given.
inline exec::Job checked_job(uintptr_t entry, uintptr_t args, int64_t samples, int64_t grain, double cost_ns) {
    const auto refuse = [](const std::string& what) { throw nb::value_error(what.c_str()); };
    if (entry == 0) refuse("entry is 0: pass the address of the compiled code");
    if (samples < 0) refuse("samples is " + std::to_string(samples) + ": pass 0 or more");
    if (grain < 1) refuse("grain is " + std::to_string(grain) + ": pass 1 or more");
    if (!(cost_ns > 0) || std::isinf(cost_ns))
        refuse("cost_ns is " + std::to_string(cost_ns) + ": pass a guess above 0 of the nanoseconds one sample takes");
    return {reinterpret_cast<eagle_entry>(entry), reinterpret_cast<void*>(args), samples, grain, cost_ns};
}

// What was raised while a job ran, or an error that says why a job can end early without one. Steals from the watch.
inline nb::object reason_of_stop(PythonWatch& watch) {
    PyObject* const error = watch.take_error();
    if (error != nullptr) return nb::steal(error);
    return nb::borrow(PyExc_RuntimeError)("the job ended early without an interrupt: its code returned a negative "
                                          "number, the job around it was stopped, the process is ending, or it forked "
                                          "inside the job. Launch again once that is over.");
}

struct Moved {
    std::size_t job, plane;
};
struct Failed {
    std::size_t job;
    int32_t code;
    int64_t repetition;
};
struct Interrupted {
    std::size_t job;
    int64_t repetition;
    nb::object error;
};

using PlaneTuple = std::tuple<nb::object, uintptr_t, std::vector<Py_ssize_t>, std::vector<Py_ssize_t>>;
using JobTuple = std::tuple<uintptr_t, uintptr_t, int64_t, int64_t, double, std::vector<PlaneTuple>>;

class JobList {
  public:
    explicit JobList(const std::vector<JobTuple>& jobs) {
        const nb::object ndarray = nb::module_::import_("numpy").attr("ndarray");
        for (const auto& [entry, args, samples, grain, cost_ns, planes] : jobs) {
            jobs_.push_back(checked_job(entry, args, samples, grain, cost_ns));
            for (const auto& [array, address, shape, strides] : planes) add_plane(ndarray, array, address, shape, strides);
            first_plane_.push_back(planes_.size());
        }
    }

    std::size_t size() const noexcept { return jobs_.size(); }

    // Moved or None.
    nb::object moved() const {
        const std::size_t plane = planes_.first_moved();
        if (plane == planes_.size()) return nb::none();
        std::size_t job = 0;
        while (first_plane_[job] <= plane) ++job;
        return nb::cast(Moved{job, plane - (job == 0 ? 0 : first_plane_[job - 1])});
    }

    // None, Moved (nothing has run), Failed or Interrupted.
    nb::object run(int64_t n) const {
        if (n < 0) throw nb::value_error(("n is " + std::to_string(n) + ": pass 0 or more").c_str());
        if (planes_.first_moved() != planes_.size()) return moved();
        Detached detached;
        PythonWatch watch(detached);
        const exec::SequenceEnd end =
            exec::run_sequence(jobs_.data(), jobs_.size(), n, on_main_thread() ? &watch : nullptr);
        detached.attach();
        return outcome(end, watch);
    }

    int traverse(visitproc visit, void* arg) const { return planes_.traverse(visit, arg); }

    // The collector takes the arrays away: without them nothing may run any more.
    void clear() noexcept {
        jobs_.clear();
        first_plane_.clear();
        planes_.clear();
    }

  private:
    void add_plane(const nb::object& ndarray, const nb::object& array, uintptr_t address,
                   const std::vector<Py_ssize_t>& shape, const std::vector<Py_ssize_t>& strides) {
        const std::string who = "plane " + std::to_string(planes_.size() - (first_plane_.empty() ? 0 : first_plane_.back())) +
                                " of job " + std::to_string(jobs_.size() - 1);
        if (!nb::isinstance(array, ndarray)) {
            const std::string text = who + " is no NumPy array: pass arrays of other libraries through np.asarray";
            throw nb::type_error(text.c_str());
        }
        if (shape.size() == strides.size()) {
            planes_.add(array, address, shape, strides);
            if (planes_.in_place(planes_.size() - 1)) return;
        }
        const std::string text = who + " is not at the address, or has not the shape and strides, that were given for it: "
                                       "read all three from the array right before";
        throw nb::value_error(text.c_str());
    }

    std::vector<exec::Job> jobs_;
    std::vector<std::size_t> first_plane_;    // of the job after
    Planes planes_;

    static nb::object outcome(const exec::SequenceEnd& end, PythonWatch& watch) {
        if (end.code == 0) return nb::none();
        if (end.code > 0) return nb::cast(Failed{end.job, end.code, end.repetition});
        return nb::cast(Interrupted{end.job, end.repetition, reason_of_stop(watch)});
    }
};

}  // namespace eagle::python
