// How a stage of independent branches runs: a fixed rule, not a heuristic, so that anybody can tell what it will give.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eagle::exec {

// Above it every node has enough samples to keep the whole team busy.
constexpr int64_t kBranchTasksMaxSamples = 4096;

enum class Schedule {
    work_share,      // one node after another, each spread over the whole team
    branch_tasks,    // the branches at the same time, each branch's nodes in order on one thread
};

constexpr const char* name_of(Schedule schedule) noexcept {
    return schedule == Schedule::branch_tasks ? "branch_tasks" : "work_share";
}

struct StageShape {
    std::size_t branches;
    int64_t samples;       // of the node that has most
    bool native = true;    // whether every node is compiled code
};

constexpr Schedule resolve(const StageShape& stage, int threads) noexcept {
    const bool fits = stage.native && stage.samples <= kBranchTasksMaxSamples;
    return fits && stage.branches >= 2 && threads >= 2 ? Schedule::branch_tasks : Schedule::work_share;
}

}  // namespace eagle::exec
