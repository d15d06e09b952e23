// Runs jobs: one, or a sequence of them many times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "eagle/exec/flight.h"
#include "eagle/exec/job.h"
#include "eagle/exec/process.h"

namespace eagle::exec {

// One call's hold on the team: taken by the first job that is worth it, kept until the call ends, so that the threads
// are still awake for the next job.
class Caller {
  public:
    explicit Caller(Watch* watch) noexcept
        : watch_(watch), inside_(current != nullptr && current->flight->on_team()) {}
    ~Caller() {
        if (team_ != nullptr) team_->release();
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    // 0: done; > 0: done, the largest code of its failures; < 0: stopped.
    int32_t run(const Job& job) noexcept {
        if (job.samples <= 0) return 0;
        const int size = team_size();
        const Cut pieces = cut(job, size);
        if (pieces.count > 1 && !inside_) {
            if (size != held_size_) get_team(size);
            if (team_ != nullptr) return team_->fly(job, pieces, watch_);
        }
        Flight here(job, uncut(job), nullptr);
        here.work(0, watch_);
        return here.code();
    }

    // For between two jobs: whether to stop. Looks at the clock once enough work has gone by.
    bool interrupted(const Job& job) noexcept {
        work_ns_ += 50 + static_cast<double>(job.samples) * job.cost_ns;
        if (work_ns_ < 2000) return false;
        work_ns_ = 0;
        const bool around = current != nullptr && current->flight->stopped();
        return around || (watch_ != nullptr && watch_->look());
    }

  private:
    // Held by another thread: run this job in place and ask again for the next.
    void get_team(int size) noexcept {
        if (team_ != nullptr) team_->release();
        team_ = hold_team(size);
        held_size_ = team_ != nullptr ? size : 0;
    }

    Watch* const watch_;
    const bool inside_;
    Team* team_ = nullptr;
    int held_size_ = 0;
    double work_ns_ = 0;
};

inline int32_t run(const Job& job, Watch* watch = nullptr) noexcept { return Caller(watch).run(job); }

// How a sequence ended: code 0, or the first job of the repetition that failed (> 0), or where it was stopped (< 0).
struct SequenceEnd {
    int64_t repetition;
    std::size_t job;
    int32_t code;
};

// Runs the jobs one after another, `repetitions` times. When a job fails, the others of that repetition still run: what is
// left behind does not depend on how jobs are cut, fused or ordered in time. No repetition follows.
inline SequenceEnd run_sequence(const Job* jobs, std::size_t count, int64_t repetitions, Watch* watch = nullptr) noexcept {
    Caller caller(watch);
    SequenceEnd end{0, 0, 0};
    for (; end.repetition < repetitions; ++end.repetition) {
        for (std::size_t i = 0; i < count; ++i) {
            const int32_t code = caller.run(jobs[i]);
            if (code < 0 || caller.interrupted(jobs[i])) return {end.repetition, i, -1};
            if (code > 0 && end.code == 0) end = {end.repetition, i, code};
        }
        if (end.code > 0) return end;
    }
    return end;
}

}  // namespace eagle::exec
