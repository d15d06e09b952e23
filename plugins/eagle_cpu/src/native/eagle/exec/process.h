// The one team of the process: made on first use, forgotten in a forked child, joined at exit.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "eagle/exec/cpus.h"
#include "eagle/exec/team.h"

namespace eagle::exec {

inline std::atomic<Team*> process_team{nullptr};
inline std::atomic<int> wanted_threads{0};    // 0: nobody has asked yet

// How many threads the next job may use, the caller included.
inline int team_size() noexcept {
    int size = wanted_threads.load(std::memory_order_relaxed);
    if (size == 0) {
        const int found = default_threads();
        size = wanted_threads.compare_exchange_strong(size, found, std::memory_order_relaxed) ? found : size;
    }
    return size;
}

// Takes effect at the next job that gets the team, so it never waits, not even inside a job.
inline void set_team_size(int size) noexcept {
    wanted_threads.store(std::clamp(size, 1, kMostThreads), std::memory_order_relaxed);
}

// The team, made if need be and without threads yet; nothing when memory is out.
inline Team* team() noexcept {
    Team* there = process_team.load(std::memory_order_acquire);
    if (there != nullptr) return there;
    Team* fresh = new (std::nothrow) Team;
    if (fresh == nullptr || process_team.compare_exchange_strong(there, fresh, std::memory_order_acq_rel)) return fresh;
    delete fresh;
    return there;
}

// Holds the team with `size` threads started, or with as many as there can be.
inline Team* hold_team(int size) noexcept {
    Team* const held = team();
    if (held == nullptr || !held->hold()) return nullptr;
    const int there = held->fit(size);
    if (there != size) wanted_threads.compare_exchange_strong(size, there, std::memory_order_relaxed);    // ask no more
    return held;
}

// Joins the threads; jobs run in place from then on. A thread still inside a job is asked to stop, and left alone when its
// code does not listen for a second: the process must be able to end.
inline void shut_down() noexcept {
    Team* const last = process_team.load(std::memory_order_acquire);
    if (last == nullptr || last->leave()) return;
    for (int tries = 0; tries < 1000; ++tries) {
        if (last->hold()) {
            last->fit(1);
            return;    // held for good, and never deleted: threads outside Python's control may still look at it
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

namespace detail {

// A child has one thread. The parent's team is neither joined nor unlocked: whatever it holds belongs to the parent.
inline void forget_team() noexcept {
    forks.fetch_add(1, std::memory_order_relaxed);
    process_team.store(nullptr, std::memory_order_relaxed);
}

struct Process {
    Process() noexcept { pthread_atfork(nullptr, nullptr, &forget_team); }
    ~Process() { shut_down(); }
};
inline const Process process;

}  // namespace detail
}  // namespace eagle::exec
