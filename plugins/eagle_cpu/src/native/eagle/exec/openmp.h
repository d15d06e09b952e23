// Whether the caller is inside an OpenMP region.
#pragma once

#if defined(_OPENMP)
#include <omp.h>
#define EAGLE_EXEC_CALLER with_openmp
#else
#define EAGLE_EXEC_CALLER without_openmp
#endif

namespace eagle::exec {

// Only the caller's own translation unit knows its OpenMP. Functions that ask stand in a namespace named for the answer, so
// that units compiled with OpenMP and without it can be linked together: each has functions of its own.
inline namespace EAGLE_EXEC_CALLER {

inline bool in_openmp_region() noexcept {
#if defined(_OPENMP)
    return omp_in_parallel() != 0;
#else
    return false;
#endif
}

}  // namespace EAGLE_EXEC_CALLER
}  // namespace eagle::exec
