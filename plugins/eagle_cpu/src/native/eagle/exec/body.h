// Jobs made of C++ callables.
#pragma once

#include <cstdint>
#include <type_traits>

#include "eagle/exec/abi.h"
#include "eagle/exec/job.h"

namespace eagle::exec {

// Makes a job of `body(begin, end)` or `body(begin, end, run)`, which returns nothing or a code. The body is the caller's to
// keep, must not throw, and may be called from several threads at once.
template <class Body>
Job job_of(Body& body, int64_t samples, double cost_ns = 1.0) noexcept {
    const eagle_entry entry = [](void* args, int64_t begin, int64_t end, const eagle_run* run) -> int32_t {
        Body& it = *static_cast<Body*>(args);
        const auto call = [&] {
            if constexpr (std::is_invocable_v<Body&, int64_t, int64_t, const eagle_run*>)
                return it(begin, end, run);
            else
                return it(begin, end);
        };
        if constexpr (std::is_void_v<decltype(call())>) {
            call();
            return 0;
        } else {
            return call();
        }
    };
    return {entry, const_cast<void*>(static_cast<const void*>(&body)), samples, 1, cost_ns};
}

}  // namespace eagle::exec
