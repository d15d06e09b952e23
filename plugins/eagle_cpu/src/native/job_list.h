// Stages of jobs made once and run many times, with the arrays their code was made for.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
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
    std::size_t plane;
};
struct Failed {
    int32_t job, code;
    int64_t repetition;
};
struct Interrupted {
    int32_t job;
    int64_t repetition;
    nb::object error;
};

using PlaneTuple = std::tuple<nb::object, uintptr_t, std::vector<Py_ssize_t>, std::optional<std::vector<Py_ssize_t>>>;
using JobTuple = std::tuple<uintptr_t, uintptr_t, int64_t, int64_t, double>;
using StageLists = std::vector<std::vector<std::vector<std::size_t>>>;

class JobList {
  public:
    JobList(const std::vector<JobTuple>& jobs, const std::vector<PlaneTuple>& planes, const std::optional<StageLists>& stages) {
        for (const auto& [entry, args, samples, grain, cost_ns] : jobs) {
            given_.push_back(checked_job(entry, args, samples, grain, cost_ns));
            given_.back().rank = static_cast<int32_t>(given_.size()) - 1;
        }
        const nb::object ndarray = nb::module_::import_("numpy").attr("ndarray");
        for (const auto& [array, address, shape, strides] : planes) add_plane(ndarray, array, address, shape, strides);
        if (stages)
            arrange(*stages);
        else
            arrange_in_order();
        for (std::size_t b = 0, i = 0; b < branches_.size(); i += branches_[b++].count) branches_[b].jobs = jobs_.data() + i;
        for (std::size_t s = 0, b = 0; s < stages_.size(); b += stages_[s++].count)
            stages_[s] = exec::stage_of(branches_.data() + b, stages_[s].count, stages_[s].schedule);
        took_ns_ = std::make_unique<std::atomic<int64_t>[]>(stages_.size());
        for (std::size_t s = 0; s < stages_.size(); ++s) stages_[s].took_ns = &took_ns_[s];
    }

    JobList(const JobList&) = delete;    // stages point into it
    JobList& operator=(const JobList&) = delete;

    std::size_t size() const noexcept { return jobs_.size(); }

    // Moved or None.
    nb::object moved() const {
        const std::size_t plane = planes_.first_moved();
        return plane == planes_.size() ? nb::none() : nb::cast(Moved{plane});
    }

    // None, Moved (nothing has run), Failed or Interrupted.
    nb::object run(int64_t n) const {
        if (n < 0) throw nb::value_error(("n is " + std::to_string(n) + ": pass 0 or more").c_str());
        if (planes_.first_moved() != planes_.size()) return moved();
        Detached detached;
        PythonWatch watch(detached);
        const exec::RunEnd end =
            exec::run_stages(stages_.data(), stages_.size(), n, on_main_thread() ? &watch : nullptr);
        detached.attach();
        if (end.code == 0) return nb::none();
        if (end.code > 0) return nb::cast(Failed{end.rank, end.code, end.repetition});
        return nb::cast(Interrupted{end.rank, end.repetition, reason_of_stop(watch)});
    }

    int traverse(visitproc visit, void* arg) const { return planes_.traverse(visit, arg); }

    // The collector takes the arrays away: without them nothing may run any more.
    void clear() noexcept {
        stages_.clear();
        planes_.clear();
    }

  private:
    void add_plane(const nb::object& ndarray, const nb::object& array, uintptr_t address,
                   const std::vector<Py_ssize_t>& shape, const std::optional<std::vector<Py_ssize_t>>& strides) {
        const std::size_t number = planes_.size();
        const auto text = [&](const char* what) { return "plane " + std::to_string(number) + what; };
        if (!nb::isinstance(array, ndarray))
            throw nb::type_error(text(" is no NumPy array: pass arrays of other libraries through np.asarray").c_str());
        if (!strides || shape.size() == strides->size()) {
            planes_.add(array, address, shape, strides);
            if (planes_.in_place(number)) return;
        }
        throw nb::value_error(text(" is not at the address, or has not the shape and strides, that were given for it: "
                                   "read all three from the array right before")
                                  .c_str());
    }

    void arrange_in_order() {
        jobs_ = given_;
        branches_.push_back({nullptr, jobs_.size()});
        stages_.push_back({nullptr, 1, exec::Schedule::work_share, 0, nullptr});
    }

    // Puts the jobs in the order of the stages; consecutive stages of one branch become one of a longer branch.
    void arrange(const StageLists& stages) {
        std::vector<bool> seen(given_.size());
        for (const auto& stage : stages) {
            const bool tasks = stage.size() > 1;
            if (tasks || stages_.empty() || stages_.back().count != 1) {
                const auto schedule = tasks ? exec::Schedule::branch_tasks : exec::Schedule::work_share;
                stages_.push_back({nullptr, stage.size(), schedule, 0, nullptr});
                for (std::size_t b = 0; b < stage.size(); ++b) branches_.push_back({nullptr, 0});
            }
            auto branch = branches_.end() - static_cast<std::ptrdiff_t>(stage.size());
            for (const auto& jobs : stage) {
                for (const std::size_t job : jobs) add_job(job, seen);
                (branch++)->count += jobs.size();
            }
        }
        if (jobs_.size() != given_.size()) throw nb::value_error("stages leave jobs out: name every job once");
    }

    void add_job(std::size_t job, std::vector<bool>& seen) {
        if (job >= seen.size() || seen[job]) {
            const std::string text = "stages name job " + std::to_string(job) + " of " + std::to_string(seen.size()) +
                                     (job < seen.size() ? " twice" : "") + ": name every job once, from 0 on";
            throw nb::value_error(text.c_str());
        }
        seen[job] = true;
        jobs_.push_back(given_[job]);
    }

    std::vector<exec::Job> given_;
    std::vector<exec::Job> jobs_;    // in the order of the stages
    std::vector<exec::Branch> branches_;
    std::vector<exec::Stage> stages_;
    std::unique_ptr<std::atomic<int64_t>[]> took_ns_;    // of each stage
    Planes planes_;
};

}  // namespace eagle::python
