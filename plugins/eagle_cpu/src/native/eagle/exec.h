// eagle::exec: runs compiled code over samples, on one team of threads for the process.
//
// `Job` is code with the interface of abi.h, over 0 .. samples; `job_of` makes one of a lambda. `run` cuts a job over the
// team. `runHostBranches` runs branches of jobs by the rule of `resolve`: at the same time where they are small, else one
// job after another over the whole team. Results do not depend on the number of threads, as long as the code gives the same
// bits however it is cut. Called from inside an OpenMP region, from a job, or while another thread has the team, everything
// runs on the calling thread.
//
// The size of the team is what `set_team_size` was told last, else what EAGLE_NUM_THREADS says, else the number of CPUs the
// process may use. Needs C++17 and threads, and nothing of Python.
#pragma once

#include "eagle/exec/abi.h"
#include "eagle/exec/body.h"
#include "eagle/exec/job.h"
#include "eagle/exec/openmp.h"
#include "eagle/exec/process.h"
#include "eagle/exec/run.h"
#include "eagle/exec/schedule.h"
#include "eagle/exec/stage.h"
