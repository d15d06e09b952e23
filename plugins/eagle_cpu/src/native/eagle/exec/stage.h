// Jobs put together: a branch is a row of them, a stage a number of branches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "eagle/exec/job.h"
#include "eagle/exec/schedule.h"

namespace eagle::exec {

// Jobs that run in order.
struct Branch {
    const Job* jobs;
    std::size_t count;
};

// Branches that do not touch each other's results. Under `work_share` they run one after another.
struct Stage {
    const Branch* branches;
    std::size_t count;
    Schedule schedule;
    double cost_ns;                              // a guess at all its work
    std::atomic<int64_t>* took_ns = nullptr;    // what it took last, for stages that run often; 0: it never ran

    double work_ns() const noexcept {
        const int64_t took = took_ns != nullptr ? took_ns->load(std::memory_order_relaxed) : 0;
        return took > 0 ? static_cast<double>(took) : cost_ns;
    }
};

inline Stage stage_of(const Branch* branches, std::size_t count, Schedule schedule) noexcept {
    double cost = 0;
    for (std::size_t b = 0; b < count; ++b)
        for (std::size_t i = 0; i < branches[b].count; ++i) cost += work_ns(branches[b].jobs[i]);
    return {branches, count, schedule, cost, nullptr};
}

// What the rule looks at.
inline StageShape shape_of(const Branch* branches, std::size_t count) noexcept {
    StageShape shape{count, 0};
    for (std::size_t b = 0; b < count; ++b)
        for (std::size_t i = 0; i < branches[b].count; ++i)
            shape.samples = std::max(shape.samples, branches[b].jobs[i].samples);
    return shape;
}

}  // namespace eagle::exec
