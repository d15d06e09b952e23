// A number threads can sleep on, and a short busy wait before that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#if defined(__linux__) && !defined(EAGLE_WITHOUT_FUTEX)
#define EAGLE_FUTEX 1
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#else
#include <condition_variable>
#include <mutex>
#endif

namespace eagle::exec {

constexpr int64_t kForever = -1;

// An atomic number with `sleep` and `wake`. On Linux it is a futex, which has no state of its own to lose in a fork.
class Word {
  public:
    std::atomic<uint32_t> value{0};

    // Sleeps while the value is `expected`, at most `nanoseconds`. May return early: look again.
    void sleep(uint32_t expected, int64_t nanoseconds) noexcept {
#if defined(EAGLE_FUTEX)
        timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
        syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, expected, nanoseconds < 0 ? nullptr : &limit, nullptr, 0);
#else
        std::unique_lock<std::mutex> lock(mutex_);
        const auto changed = [&] { return value.load(std::memory_order_acquire) != expected; };
        if (nanoseconds < 0)
            changed_.wait(lock, changed);
        else
            changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), changed);
#endif
    }

    // Wakes up to `count` sleepers, after the value was changed.
    void wake(int count) noexcept {
#if defined(EAGLE_FUTEX)
        syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
        { std::lock_guard<std::mutex> lock(mutex_); }    // whoever is about to sleep has either seen the change or sleeps
        if (count == 1)
            changed_.notify_one();
        else
            changed_.notify_all();
#endif
    }

#if !defined(EAGLE_FUTEX)
  private:
    std::mutex mutex_;
    std::condition_variable changed_;
#endif
};

inline int64_t now_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Looks busily for at most `nanoseconds` whether `there()` holds; says whether it does.
template <class Condition>
inline bool spin_until(const Condition& there, int64_t nanoseconds) noexcept {
    if (there()) return true;
    if (nanoseconds <= 0) return false;
    const int64_t end = now_ns() + nanoseconds;
    do {
        for (int i = 0; i < 8; ++i) {
            if (there()) return true;
            pause();
        }
    } while (now_ns() < end);
    return there();
}

}  // namespace eagle::exec
