// One job, and how its samples are cut into chunks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "eagle/exec/abi.h"

namespace eagle::exec {

struct Job {
    eagle_entry entry;
    void* args;
    int64_t samples;
    int64_t grain = 1;        // cuts lie at multiples of it
    double cost_ns = 1.0;     // a guess at one sample's work: decides how many threads are worth waking
    int32_t rank = 0;         // of several jobs that fail, the one of the lowest rank is reported
    bool streams = false;     // its code may ask for more samples when its range ends
};

// For code in C++: whether to return a negative number soon.
inline bool asked_to_stop(const eagle_run* run) noexcept { return __atomic_load_n(run->stop, __ATOMIC_RELAXED) != 0; }

inline double work_ns(const Job& job) noexcept { return static_cast<double>(job.samples) * job.cost_ns; }

// Measured on two cores: a sleeping thread is at work some 25 us after the call that wakes it, and two threads overtake one
// at 40 us of work.
constexpr double kWorthWakingNs = 20'000.0;    // work each thread should get
constexpr double kLeastChunkNs = 2'000.0;      // taking a chunk costs tens of nanoseconds

// Code starts anew with every chunk, so that most of a job goes in few long ones; the rest in short ones, so that no thread
// waits long for the last.
constexpr int64_t kLongShare = 4;     // a long chunk is this part of what is a thread's
constexpr int64_t kLong = 3;          // long chunks per thread
constexpr int64_t kShortShare = 32;

// Chunks which cover 0 .. samples once: some long ones, then short ones, of which the last may be shorter.
struct Cut {
    int64_t samples, length, longs, small, count;
    int threads;    // worth taking part, the caller included

    int64_t begin(int64_t chunk) const noexcept {
        return std::min(chunk, longs) * length + std::max<int64_t>(chunk - longs, 0) * small;
    }
    int64_t end(int64_t chunk) const noexcept { return chunk + 1 == count ? samples : begin(chunk + 1); }
};

inline Cut uncut(const Job& job) noexcept { return {job.samples, job.samples, 1, job.samples, 1, 1}; }

// A chunk for every sample.
inline Cut singly(const Job& job, int threads) noexcept { return {job.samples, 1, job.samples, 1, job.samples, threads}; }

// Cuts a job for a team of `size` threads; one chunk where waking nobody is faster. The job has samples.
inline Cut cut(const Job& job, int size) noexcept {
    const double work = work_ns(job);
    const int64_t grain = std::max<int64_t>(job.grain, 1);
    if (size <= 1 || grain >= job.samples || !(work >= 2 * kWorthWakingNs)) return uncut(job);

    const int64_t useful = static_cast<int64_t>(std::min<double>(size, work / kWorthWakingNs));
    const double least = std::min(kLeastChunkNs / job.cost_ns, static_cast<double>(job.samples) / 2);
    const auto part = [&](int64_t share) {
        return std::max({job.samples / (useful * share), static_cast<int64_t>(least), int64_t{1}});
    };
    if (part(kLongShare) > job.samples - grain) return uncut(job);    // rounded up it would be everything
    const auto up = [&](int64_t length) { return (length + grain - 1) / grain * grain; };
    const int64_t length = up(part(kLongShare)), small = up(part(kShortShare));
    const int64_t longs = std::min(kLong * useful, job.samples / length);
    const int64_t rest = job.samples - longs * length;
    const int64_t count = longs + (rest > 0 ? (rest - 1) / small + 1 : 0);
    return {job.samples, length, longs, small, count, static_cast<int>(std::min(useful, count))};
}

}  // namespace eagle::exec
