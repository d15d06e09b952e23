// The threads, and how they get to a flight and leave it.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "eagle/exec/cpus.h"
#include "eagle/exec/flight.h"
#include "eagle/exec/word.h"

namespace eagle::exec {

// Counts forks: in a child, threads that were at work in the parent will never answer.
inline std::atomic<uint32_t> forks{0};

// Threads that sleep until whoever holds the team has a flight for them.
//
// `news_` tells of a new flight (or of the wish that some threads end). A thread then boards: it adds itself to `door_`
// while that is open. The caller works too; when no chunk is left it shuts the door and waits for those inside alone, so a
// thread that wakes up late costs nobody anything and never sees a flight that is over.
class Team {
  public:
    // Nobody waits for a team: who does not get it runs its job in place.
    bool hold() noexcept { return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire); }
    void release() noexcept { held_.store(false, std::memory_order_release); }

    // Starts or ends threads so that there are `size`, the caller included; returns how many there are, which is fewer
    // when the system gives no more. For who holds the team.
    int fit(int size) noexcept {
        const std::size_t wanted = static_cast<std::size_t>(std::max(size, 1)) - 1;
        if (threads_.size() == wanted) return size;
        if (threads_.size() > wanted) {
            keep_.store(static_cast<uint32_t>(wanted), std::memory_order_relaxed);
            tell(static_cast<int>(threads_.size()));
            for (std::size_t i = wanted; i < threads_.size(); ++i) threads_[i].join();
            threads_.resize(wanted);
        }
        keep_.store(static_cast<uint32_t>(wanted), std::memory_order_relaxed);
        while (threads_.size() < wanted && start()) {
        }
        const int now = static_cast<int>(threads_.size()) + 1;
        spin_.store(now <= available_cpus() ? kSpin : 0, std::memory_order_relaxed);    // else it would keep others from work
        return now;
    }

    // Runs a job with the threads there are. For who holds the team.
    int32_t fly(const Job& job, const Cut& cut, Watch* watch) noexcept {
        Flight flight(job, cut, &leaving_);
        const uint32_t born = forks.load(std::memory_order_relaxed);
        flight_ = &flight;
        door_.value.store(kOpen, std::memory_order_release);
        tell(cut.threads - 1);
        flight.work(0, watch);
        uint32_t inside = door_.value.fetch_and(~kOpen, std::memory_order_acq_rel) & kInside;
        while (inside != 0) inside = wait_for_others(flight, watch, born);
        return flight.code();
    }

    // Every flight is to stop, now and in future. Says whether this was said before.
    bool leave() noexcept { return leaving_.exchange(true, std::memory_order_relaxed); }

  private:
    static constexpr uint32_t kOpen = 1u << 31, kWaiting = 1u << 30, kInside = kWaiting - 1;
    static constexpr int64_t kSpin = 20'000;         // ns: about what going to sleep and being woken costs
    static constexpr int64_t kGlance = 10'000'000;   // ns between two looks of a caller that waits

    void tell(int count) noexcept {
        news_.value.fetch_add(1, std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_seq_cst) > 0) news_.wake(count);
    }

    // The caller has nothing left to do. Returns how many threads are still inside.
    uint32_t wait_for_others(Flight& flight, Watch* watch, uint32_t born) noexcept {
        const auto empty = [&] { return (door_.value.load(std::memory_order_acquire) & kInside) == 0; };
        if (spin_until(empty, spin_.load(std::memory_order_relaxed))) return 0;
        if (forks.load(std::memory_order_relaxed) != born) {
            flight.stop();    // the code forked: in the child nobody will run the chunks that others had taken
            return 0;
        }
        flight.look(watch);
        const uint32_t seen = door_.value.fetch_or(kWaiting, std::memory_order_acq_rel) | kWaiting;
        if ((seen & kInside) != 0) door_.sleep(seen, kGlance);
        return door_.value.load(std::memory_order_acquire) & kInside;
    }

    bool start() noexcept {
        const uint32_t index = static_cast<uint32_t>(threads_.size()) + 1;
        const uint32_t seen = news_.value.load(std::memory_order_relaxed);
        sigset_t before, blocked = all_but_faults();
        pthread_sigmask(SIG_SETMASK, &blocked, &before);    // inherited: no signal finds the thread before it blocks them
        bool started = true;
        try {
            threads_.reserve(index);
            threads_.emplace_back([this, index, seen] { live(index, seen); });
        } catch (const std::exception&) {    // a limit on processes or memory: fewer threads do the work
            started = false;
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return started;
    }

    // Signals go to threads that run Python. A fault of the thread's own must still reach its handler.
    static sigset_t all_but_faults() noexcept {
        sigset_t set;
        sigfillset(&set);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&set, fault);
        return set;
    }

    void live(uint32_t index, uint32_t seen) noexcept {
        for (;;) {
            seen = next_news(seen);
            if (index > keep_.load(std::memory_order_relaxed)) return;
            if (!board()) continue;
            flight_->work(index, nullptr);
            get_off();
        }
    }

    uint32_t next_news(uint32_t seen) noexcept {
        const auto is_new = [&] { return news_.value.load(std::memory_order_acquire) != seen; };
        if (!spin_until(is_new, spin_.load(std::memory_order_relaxed))) {
            sleepers_.fetch_add(1, std::memory_order_seq_cst);    // before the kernel compares: `tell` sees us or we see it
            while (!is_new()) news_.sleep(seen, kForever);
            sleepers_.fetch_sub(1, std::memory_order_relaxed);
        }
        return news_.value.load(std::memory_order_acquire);
    }

    bool board() noexcept {
        uint32_t door = door_.value.load(std::memory_order_relaxed);
        while ((door & kOpen) != 0)
            if (door_.value.compare_exchange_weak(door, door + 1, std::memory_order_acquire)) return true;
        return false;
    }

    void get_off() noexcept {
        const uint32_t door = door_.value.fetch_sub(1, std::memory_order_acq_rel);
        if ((door & kWaiting) != 0 && (door & kInside) == 1) door_.wake(1);
    }

    std::atomic<bool> held_{false}, leaving_{false};
    std::atomic<int64_t> spin_{0};
    std::atomic<uint32_t> keep_{0};         // threads with a larger index end
    std::vector<std::thread> threads_;      // of who holds the team
    Flight* flight_ = nullptr;              // published by the door
    alignas(64) Word news_;
    std::atomic<uint32_t> sleepers_{0};
    alignas(64) Word door_;
};

}  // namespace eagle::exec
