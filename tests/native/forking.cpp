// A process that forks while its team is at work: the child has one thread, and a team of its own.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "eagle/exec/run.h"

using namespace eagle::exec;

namespace {

int32_t add_one(void* args, int64_t begin, int64_t end, const eagle_run*) {
    for (int64_t i = begin; i < end; ++i) ++static_cast<int*>(args)[i];
    return 0;
}

void run_a_job(std::vector<int>& numbers) {
    numbers.assign(1000, 0);
    CHECK(run({add_one, numbers.data(), 1000, 1, 1e5}) == 0);
    for (const int number : numbers) CHECK(number == 1);
}

void fork_while_the_team_is_held() {
    // The heap is let alone by whoever else runs during the fork: that of the address sanitizer would stay locked in the child.
    std::vector<int> theirs(1000), ours(1000);
    std::atomic<bool> begun{false}, end{false};
    std::thread busy([&] {
        while (!end) {
            run_a_job(theirs);
            begun = true;
        }
    });
    while (!begun) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 20; ++i) run_a_job(ours);
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    end = true;
    busy.join();
}

// Every sample forks: the children go on with the job, although the threads that had the other chunks are not there.
int32_t fork_inside(void*, int64_t, int64_t, const eagle_run* run) {
    if (run->worker != 0) {
        while (__atomic_load_n(run->stop, __ATOMIC_RELAXED) == 0) run->poll(run);
        return -1;
    }
    return fork() == 0 ? 7 : 8;
}

struct StopsAtOnce final : Watch {
    bool interrupted() noexcept override { return true; }
};

void fork_inside_a_job() {
    const pid_t parent = getpid();
    StopsAtOnce watch;
    run({fork_inside, nullptr, 1, 1, 1.0}, &watch);
    const int32_t code = run({fork_inside, nullptr, 2, 1, 1e6}, &watch);
    if (getpid() != parent) _exit(code != 0 ? 0 : 1);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
}

}  // namespace

int main() {
    set_team_size(4);
    std::vector<int> numbers(1000);
    run_a_job(numbers);
    for (int i = 0; i < 5; ++i) fork_while_the_team_is_held();
    fork_inside_a_job();
    std::puts("forking: fine");
}
