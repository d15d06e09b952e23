// Runs jobs: one, or stages of them many times. From inside an OpenMP region, on the calling thread alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "eagle/exec/caller.h"
#include "eagle/exec/openmp.h"
#include "eagle/exec/process.h"
#include "eagle/exec/schedule.h"
#include "eagle/exec/stage.h"

namespace eagle::exec {

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
