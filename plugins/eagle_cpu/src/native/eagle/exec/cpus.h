// How many threads a team has when nobody says.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace eagle::exec {

constexpr int kMostThreads = 1024;

// The CPUs this process may run on: a batch system or `taskset` may give it fewer than the machine has.
inline int available_cpus() noexcept {
#if defined(__linux__)
    for (int most = 1024; most <= 1 << 20; most *= 2) {
        cpu_set_t* set = CPU_ALLOC(most);
        if (set == nullptr) break;
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        const int failed = sched_getaffinity(0, bytes, set);
        const int error = errno;
        const int count = failed ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (count > 0) return count;
        if (error != EINVAL) break;    // EINVAL: the machine has more CPUs than the set holds
    }
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// EAGLE_NUM_THREADS where it is a number from 1 on, else 0.
inline int threads_from_environment() noexcept {
    const char* text = std::getenv("EAGLE_NUM_THREADS");
    if (text == nullptr) return 0;
    char* end = nullptr;
    errno = 0;
    const long number = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1) return 0;
    return static_cast<int>(std::min<long>(number, kMostThreads));
}

inline int default_threads() noexcept {
    const int said = threads_from_environment();
    return said > 0 ? said : std::min(available_cpus(), kMostThreads);
}

}  // namespace eagle::exec
