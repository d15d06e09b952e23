// Looks now and then whether the user wants to stop.
#pragma once

#include <cstdint>

#include "eagle/exec/word.h"

namespace eagle::exec {

// Asks `interrupted` every 15 ms at most. Belongs to the calling thread; one watch lasts for a whole sequence of jobs.
class Watch {
  public:
    // Called by `poll`: two tens of nanoseconds while it is not yet time.
    bool look() noexcept {
        const int64_t now = now_ns();
        if (next_ == 0) {
            next_ = now + kInterval;    // the first look starts the clock, so that a short job never asks
            return false;
        }
        if (now < next_) return false;
        const bool stop = interrupted();
        next_ = now_ns() + kInterval;
        return stop;
    }

  protected:
    ~Watch() = default;

    // May take long: the Python one waits for the interpreter's lock and runs signal handlers.
    virtual bool interrupted() noexcept = 0;

  private:
    static constexpr int64_t kInterval = 15'000'000;
    int64_t next_ = 0;
};

}  // namespace eagle::exec
