// Who runs jobs: a thread with its hold on the team.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "eagle/exec/branch_tasks.h"
#include "eagle/exec/flight.h"
#include "eagle/exec/job.h"
#include "eagle/exec/process.h"
#include "eagle/exec/stage.h"
#include "eagle/exec/word.h"

namespace eagle::exec {

// How a run ended: code 0; or > 0, of the failed job of the lowest rank in the last repetition; or < 0, stopped at the job of
// that rank, the lowest of those that several threads were stopped at, or right after it.
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
        for (std::size_t b = 0; b < stage.count; ++b)
            if (!run_in_order(stage.branches[b], end)) return false;
        return true;
    }

  private:
    // A stage is handed to threads that may still be awake from the repetition before; waking them is paid for by all of
    // the repetitions together.
    static constexpr double kWorthSharingNs = 2'000.0;

    // Jobs that are worth it one by one over the team, and those between them in one go on this thread.
    bool run_in_order(const Branch& branch, RunEnd& end) noexcept {
        const Job* const last = branch.jobs + branch.count;
        for (const Job* job = branch.jobs; job != last;) {
            const Job* first = job;
            Cut pieces{};
            for (; job != last; ++job)
                if (!in_place_ && job->samples > 0 && (pieces = cut(*job, team_size())).count > 1) break;
            if (job != first) {
                const Branch short_ones{first, static_cast<std::size_t>(job - first)};
                if (!work_here(stage_of(&short_ones, 1, Schedule::branch_tasks), end)) return false;
            }
            if (job == last) break;
            if (!note(fly(*job, pieces), job->rank, work_ns(*job), end)) return false;
            ++job;
        }
        return true;
    }

    bool run_tasks(const Stage& stage, int64_t repetitions_left, RunEnd& end) noexcept {
        const int threads = static_cast<int>(std::min<int64_t>(team_size(), static_cast<int64_t>(stage.count)));
        if (in_place_ || threads < 2) return work_here(stage, end);
        const double work = stage.work_ns();
        const bool shared = work >= kWorthSharingNs && work * static_cast<double>(repetitions_left) >= 2 * kWorthWakingNs;
        const int64_t begin = now_ns();
        const bool on = shared ? share(stage, threads, end) : work_here(stage, end);
        // Shared, it took at most this much work: a stage that seemed large is tried in place again.
        if (stage.took_ns != nullptr)
            stage.took_ns->store((now_ns() - begin) * (shared ? threads : 1), std::memory_order_relaxed);
        return on;
    }

    bool share(const Stage& stage, int threads, RunEnd& end) noexcept {
        BranchTasks tasks(stage);
        return note(fly(tasks.job(), singly(tasks.job(), threads)), stage, tasks, end);
    }

    bool work_here(const Stage& stage, RunEnd& end) noexcept {
        if (stage.count == 0) return true;
        BranchTasks tasks(stage);
        return note(work_here(tasks.job()), stage, tasks, end);
    }

    bool note(int32_t code, const Stage& stage, const BranchTasks& tasks, RunEnd& end) noexcept {
        if (code < 0) return note(code, tasks.stopped().any() ? tasks.stopped().rank() : lowest_rank(stage), 0, end);
        if (tasks.failed().any()) return note(tasks.failed().code(), tasks.failed().rank(), stage.cost_ns, end);
        return note(0, highest_rank(stage), stage.cost_ns, end);
    }

    static int32_t lowest_rank(const Stage& stage) noexcept {
        int32_t lowest = INT32_MAX;
        for (const Branch* branch = stage.branches; branch != stage.branches + stage.count; ++branch)
            if (branch->count > 0) lowest = std::min(lowest, branch->jobs[0].rank);
        return lowest;
    }

    static int32_t highest_rank(const Stage& stage) noexcept {
        int32_t highest = 0;
        for (const Branch* branch = stage.branches; branch != stage.branches + stage.count; ++branch)
            if (branch->count > 0) highest = std::max(highest, branch->jobs[branch->count - 1].rank);
        return highest;
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
        Flight here(job, uncut(job), nullptr);
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

}  // namespace eagle::exec
