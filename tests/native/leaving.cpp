// A process that ends while another thread is in an endless job: the job is asked to stop and the threads are joined.

#include <chrono>
#include <thread>

#include "check.h"
#include "eagle/exec/run.h"

using namespace eagle::exec;

namespace {

std::atomic<bool> started{false}, stopped{false};

int32_t endless(void*, int64_t, int64_t, const eagle_run* run) {
    started = true;
    while (__atomic_load_n(run->stop, __ATOMIC_RELAXED) == 0) run->poll(run);
    return -1;
}

int32_t nothing(void*, int64_t, int64_t, const eagle_run*) { return 0; }

}  // namespace

int main() {
    set_team_size(3);
    std::thread caller([] {
        CHECK(run({endless, nullptr, 100, 1, 1e6}) < 0);
        stopped = true;
    });
    while (!started) std::this_thread::yield();
    shut_down();
    caller.join();
    CHECK(stopped);
    CHECK(run({nothing, nullptr, 100, 1, 1e6}) == 0);    // in place from here on
    std::puts("leaving: fine");
}
