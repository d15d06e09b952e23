// The branches of a stage as the samples of one job: whichever thread is free takes the next branch. A row of jobs too short
// to be shared is a single branch.
#pragma once

#include <atomic>
#include <cstdint>

#include "eagle/exec/abi.h"
#include "eagle/exec/fp_environment.h"
#include "eagle/exec/job.h"
#include "eagle/exec/stage.h"

namespace eagle::exec {

// Of the jobs of which something is said, that of the lowest rank, whichever thread came upon it first.
class LowestRank {
  public:
    void note(int32_t rank, int32_t code) noexcept {
        const uint64_t mine = static_cast<uint64_t>(static_cast<uint32_t>(rank)) << 32 | static_cast<uint32_t>(code);
        uint64_t lowest = word_.load(std::memory_order_relaxed);
        while (mine < lowest && !word_.compare_exchange_weak(lowest, mine, std::memory_order_relaxed)) {
        }
    }

    bool any() const noexcept { return word_.load(std::memory_order_relaxed) != kNone; }
    int32_t rank() const noexcept { return static_cast<int32_t>(word_.load(std::memory_order_relaxed) >> 32); }
    int32_t code() const noexcept { return static_cast<int32_t>(word_.load(std::memory_order_relaxed) & 0xffffffffu); }

  private:
    static constexpr uint64_t kNone = UINT64_MAX;
    std::atomic<uint64_t> word_{kNone};
};

class BranchTasks {
  public:
    explicit BranchTasks(const Stage& stage) noexcept : stage_(stage) {}

    Job job() noexcept {
        const auto branches = static_cast<int64_t>(stage_.count);
        return {&BranchTasks::take, this, branches, 1, stage_.cost_ns / static_cast<double>(branches)};
    }

    const LowestRank& failed() const noexcept { return failed_; }
    const LowestRank& stopped() const noexcept { return stopped_; }

  private:
    static int32_t take(void* args, int64_t begin, int64_t end, const eagle_run* run) {
        auto* me = static_cast<BranchTasks*>(args);
        for (int64_t b = begin; b < end; ++b) {
            const int32_t code = me->follow(me->stage_.branches[b], run);
            if (code < 0) return code;
        }
        return 0;
    }

    // A failure stops nothing, as in a flight.
    int32_t follow(const Branch& branch, const eagle_run* run) noexcept {
        const DefaultFpEnvironment environment;
        double unseen_ns = 0;
        for (const Job* job = branch.jobs; job != branch.jobs + branch.count; ++job) {
            if (job->samples <= 0) continue;
            const int32_t code = asked_to_stop(run) ? -1 : job->entry(job->args, 0, job->samples, run);
            if (code > 0) failed_.note(job->rank, code);
            if (code < 0) {
                stopped_.note(job->rank, 1);
                return code;
            }
            environment.renew();
            unseen_ns += 20 + work_ns(*job);
            if (unseen_ns > kGlanceNs) {
                unseen_ns = 0;
                run->poll(run);
            }
        }
        return 0;
    }

    static constexpr double kGlanceNs = 2000;    // the code of a short job has no reason to poll
    const Stage stage_;
    LowestRank failed_, stopped_;
};

}  // namespace eagle::exec
