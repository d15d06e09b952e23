// A job under way: what its threads share, and what each of them shows to the code it runs.
#pragma once

#include <atomic>
#include <cstdint>

#include "eagle/exec/abi.h"
#include "eagle/exec/fp_environment.h"
#include "eagle/exec/job.h"
#include "eagle/exec/watch.h"

namespace eagle::exec {

class Flight;

// One thread's part in a flight. The code sees the `eagle_run` at its beginning; `poll` finds the rest behind it.
struct Participant {
    eagle_run run;
    Flight* flight;
    Watch* watch;    // the calling thread's, or none
};

// What this thread is running: code may call back into the team, and then runs in place.
inline thread_local const Participant* current = nullptr;

class Flight {
  public:
    // `leaving` is the team's wish to end, or nothing when the flight is not the team's.
    Flight(const Job& job, const Cut& cut, const std::atomic<bool>* leaving) noexcept
        : job_(job), cut_(cut), leaving_(leaving), around_(current != nullptr ? current->flight : nullptr) {}

    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;

    // Takes chunks until none is left, each in the default floating-point environment, whatever the one before left.
    void work(uint32_t worker, Watch* watch) noexcept {
        const eagle_run run{sizeof(eagle_run), worker, stop_seen_by_code(), &Flight::poll, job_.streams ? &Flight::more : nullptr};
        const Participant me{run, this, watch};
        const Participant* const before = current;
        current = &me;
        while (!stopped()) {
            const int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
            if (chunk >= cut_.count) break;
            const DefaultFpEnvironment environment;
            take(job_.entry(job_.args, cut_.begin(chunk), cut_.end(chunk), &me.run));
            if (chunk + 1 >= cut_.count) break;
        }
        current = before;
    }

    void stop() noexcept { stop_.store(1, std::memory_order_relaxed); }
    bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed) != 0; }

    // Sets the stop where there is a reason to; `watch` is the calling thread's.
    void look(Watch* watch) noexcept {
        if (stopped()) return;
        const bool leave = leaving_ != nullptr && leaving_->load(std::memory_order_relaxed);
        if (leave || (around_ != nullptr && around_->stopped()) || (watch != nullptr && watch->look())) stop();
    }

    // Whether the team, or a flight around this one, is busy with this thread.
    bool on_team() const noexcept { return leaving_ != nullptr || (around_ != nullptr && around_->on_team()); }

    // 0, the largest code of a failure (the same however the job was cut), or < 0 when it was stopped.
    int32_t code() const noexcept { return stopped() ? -1 : code_.load(std::memory_order_relaxed); }

  private:
    static void poll(const eagle_run* run) noexcept {
        const auto* me = reinterpret_cast<const Participant*>(run);
        me->flight->look(me->watch);
    }

    static int32_t more(const eagle_run* run, int64_t* begin, int64_t* end) noexcept {
        Flight& flight = *reinterpret_cast<const Participant*>(run)->flight;
        const int64_t chunk = flight.stopped() ? flight.cut_.count : flight.next_.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= flight.cut_.count) return 0;
        *begin = flight.cut_.begin(chunk);
        *end = flight.cut_.end(chunk);
        return 1;
    }

    // A failure stops nothing: what is left behind is then the same for every schedule.
    void take(int32_t code) noexcept {
        if (code < 0) stop();
        int32_t largest = code_.load(std::memory_order_relaxed);
        while (code > largest && !code_.compare_exchange_weak(largest, code, std::memory_order_relaxed)) {
        }
    }

    const volatile int32_t* stop_seen_by_code() const noexcept {
        static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t) && std::atomic<int32_t>::is_always_lock_free);
        return reinterpret_cast<const volatile int32_t*>(&stop_);
    }

    const Job job_;
    const Cut cut_;
    const std::atomic<bool>* const leaving_;
    Flight* const around_;
    std::atomic<int32_t> code_{0};
    std::atomic<int32_t> stop_{0};
    alignas(64) std::atomic<int64_t> next_{0};    // a line of its own: every thread writes it
};

}  // namespace eagle::exec
