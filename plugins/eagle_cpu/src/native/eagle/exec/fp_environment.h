// The floating-point environment jobs run in.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace eagle::exec {

// Sets the default environment (round to nearest, subnormals kept, no traps); gives the caller's own back at the end.
//
// A thread inherits the environment of the one that created it, and other libraries switch subnormals off: without this
// the same job gives other bits on other threads. The flags raised meanwhile go too, so they do not leak into the caller.
// On x86 there are two of them: `long double` and fegetround look at the older one, which is read more cheaply than set.
class DefaultFpEnvironment {
  public:
    DefaultFpEnvironment() noexcept {
#if defined(__x86_64__)
        saved_ = _mm_getcsr();
        _mm_setcsr(0x1f80);
        asm volatile("fnstcw %0" : "=m"(saved_x87_));
        set_x87(saved_x87_, 0x037f);
#elif defined(__aarch64__)
        asm volatile("mrs %0, fpcr" : "=r"(saved_));
        asm volatile("mrs %0, fpsr" : "=r"(flags_));
        if (saved_ != 0) asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
#else
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
#endif
    }

    ~DefaultFpEnvironment() {
#if defined(__x86_64__)
        _mm_setcsr(saved_);
        uint16_t now;
        asm volatile("fnstcw %0" : "=m"(now));
        set_x87(now, saved_x87_);
#elif defined(__aarch64__)
        asm volatile("msr fpcr, %0" ::"r"(saved_));
        asm volatile("msr fpsr, %0" ::"r"(flags_));
#else
        std::fesetenv(&saved_);
#endif
    }

    // For between two jobs inside: the default again, whatever the one before left. The flags it raised stay, and the
    // cheapest of what can be asked is asked first, because jobs may be short.
    void renew() const noexcept {
#if defined(__x86_64__)
        constexpr uint32_t flags = 0x3f;
        if ((_mm_getcsr() & ~flags) != 0x1f80) _mm_setcsr(0x1f80);
        uint16_t now;
        asm volatile("fnstcw %0" : "=m"(now));
        set_x87(now, 0x037f);
#elif defined(__aarch64__)
        uint64_t now;
        asm volatile("mrs %0, fpcr" : "=r"(now));
        if (now != 0) asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
#else
        std::fesetenv(FE_DFL_ENV);
#endif
    }

    DefaultFpEnvironment(const DefaultFpEnvironment&) = delete;
    DefaultFpEnvironment& operator=(const DefaultFpEnvironment&) = delete;

  private:
#if defined(__x86_64__)
    static void set_x87(uint16_t now, uint16_t wanted) noexcept {
        if (now != wanted) asm volatile("fldcw %0" ::"m"(wanted));
    }

    uint32_t saved_;
    uint16_t saved_x87_;
#elif defined(__aarch64__)
    uint64_t saved_, flags_;
#else
    std::fenv_t saved_;
#endif
};

}  // namespace eagle::exec
