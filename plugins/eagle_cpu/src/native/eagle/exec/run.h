// Runs jobs: one, or stages of them many times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "eagle/exec/branch_tasks.h"
#include "eagle/exec/flight.h"
#include "eagle/exec/job.h"
#include "eagle/exec/openmp.h"
#include "eagle/exec/process.h"
#include "eagle/exec/stage.h"

namespace eagle::exec {

// How a run ended: code 0; or > 0, of the failed job of the lowest rank in the last repetition; or < 0 where it was stopped,
// at the job of that rank, or at the branches of which that is the first.
struct RunEnd {
    int64_t repetition = 0;
    int32_t rank = 0;
    int32_t code = 0;
};

// One call's hold on the team: taken by the first job that is worth it, kept until the call ends, so that the threads
// are still awake for the next job.
class Caller {
  public:
    // `in_place`: use no other thread, for instance because the caller is one of many that work already.
    explicit Caller(Watch* watch, bool in_place = false) noexcept
        : watch_(watch), in_place_(in_place || (current != nullptr && current->flight->on_team())) {}
    ~Caller() {
        if (team_ != nullptr) team_->release();
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    // 0: done; > 0: done, the largest code of its failures; < 0: stopped.
    int32_t run(const Job& job) noexcept {
        if (job.samples <= 0) return 0;
        return in_place_ ? work_here(job) : fly(job, cut(job, team_size()));
    }

    // Runs a stage once and adds what failed to `end`. Says whether to go on.
    bool run(const Stage& stage, int64_t repetitions_left, RunEnd& end) noexcept {
        if (stage.schedule == Schedule::branch_tasks) return run_tasks(stage, repetitions_left, end);
        for (std::size_t b = 0; b < stage.count; ++b) {
            const Branch& branch = stage.branches[b];
            for (const Job* job = branch.jobs; job != branch.jobs + branch.count; ++job)
                if (!note(run(*job), job->rank, work_ns(*job), end)) return false;
        }
        return true;
    }

  private:
    // A stage is handed to threads that may still be awake from the repetition before; waking them is paid for by all of
    // the repetitions together.
    static constexpr double kWorthSharingNs = 2'000.0;

    bool run_tasks(const Stage& stage, int64_t repetitions_left, RunEnd& end) noexcept {
        if (stage.count == 0) return true;
        BranchTasks tasks(stage);
        const auto branches = static_cast<int64_t>(stage.count);
        const bool shared = !in_place_ && stage.cost_ns >= kWorthSharingNs &&
                            stage.cost_ns * static_cast<double>(repetitions_left) >= 2 * kWorthWakingNs;
        const int threads = static_cast<int>(std::min<int64_t>(team_size(), branches));
        const int32_t code = shared && threads > 1 ? fly(tasks.job(), {branches, 1, branches, threads}) : work_here(tasks.job());
        const LowestFailure& failure = tasks.failure();
        if (code == 0 && failure.any()) return note(failure.code(), failure.rank(), stage.cost_ns, end);
        return note(code, lowest_rank(stage), stage.cost_ns, end);
    }

    static int32_t lowest_rank(const Stage& stage) noexcept {
        int32_t lowest = INT32_MAX;
        for (std::size_t b = 0; b < stage.count; ++b)
            if (stage.branches[b].count > 0) lowest = std::min(lowest, stage.branches[b].jobs->rank);
        return lowest;
    }

    // Takes the code of a job in. A failure stops nothing: what is left behind does not depend on how jobs are cut, fused
    // or ordered in time.
    bool note(int32_t code, int32_t rank, double work, RunEnd& end) noexcept {
        if (code < 0 || interrupted(work)) {
            end.rank = rank;
            end.code = -1;
            return false;
        }
        if (code > 0 && (end.code == 0 || rank < end.rank)) {
            end.rank = rank;
            end.code = code;
        }
        return true;
    }

    // For between two jobs: whether to stop. Looks at the clock once enough work has gone by.
    bool interrupted(double work) noexcept {
        unseen_ns_ += 50 + work;
        if (unseen_ns_ < 2000) return false;
        unseen_ns_ = 0;
        const bool around = current != nullptr && current->flight->stopped();
        return around || (watch_ != nullptr && watch_->look());
    }

    int32_t fly(const Job& job, const Cut& pieces) noexcept {
        if (pieces.count > 1) {
            const int size = team_size();
            if (size != held_size_) get_team(size);
            if (team_ != nullptr) return team_->fly(job, pieces, watch_);
        }
        return work_here(job);
    }

    int32_t work_here(const Job& job) noexcept {
        Flight here(job, {job.samples, job.samples, 1, 1}, nullptr);
        here.work(0, watch_);
        return here.code();
    }

    // Held by another thread: run this job in place and ask again for the next.
    void get_team(int size) noexcept {
        if (team_ != nullptr) team_->release();
        team_ = hold_team(size);
        held_size_ = team_ != nullptr ? size : 0;
    }

    Watch* const watch_;
    const bool in_place_;
    Team* team_ = nullptr;
    int held_size_ = 0;
    double unseen_ns_ = 0;
};

inline namespace EAGLE_EXEC_CALLER {

inline int32_t run(const Job& job, Watch* watch = nullptr) noexcept { return Caller(watch, in_openmp_region()).run(job); }

// Runs the stages one after another, `repetitions` times. No repetition follows one with a failure.
inline RunEnd run_stages(const Stage* stages, std::size_t count, int64_t repetitions, Watch* watch = nullptr) noexcept {
    Caller caller(watch, in_openmp_region());
    RunEnd end;
    for (; end.repetition < repetitions; ++end.repetition) {
        for (const Stage* stage = stages; stage != stages + count; ++stage)
            if (!caller.run(*stage, repetitions - end.repetition, end)) return end;
        if (end.code > 0) return end;
    }
    return end;
}

// Runs branches that touch nothing of each other's, once, by the rule of `resolve`.
inline RunEnd runHostBranches(const Branch* branches, std::size_t count, Watch* watch = nullptr) noexcept {
    const Stage stage = stage_of(branches, count, resolve(shape_of(branches, count), team_size()));
    return run_stages(&stage, 1, 1, watch);
}

}  // namespace EAGLE_EXEC_CALLER
}  // namespace eagle::exec
