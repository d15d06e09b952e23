// Branches side by side, for the sanitizers: each in order on one thread, the lowest failure reported, stops obeyed.

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <thread>
#include <vector>

#include "check.h"
#include "eagle/exec.h"

using namespace eagle::exec;

namespace {

constexpr double kDear = 1e5;    // ns a sample: worth sharing

void the_rule_is_the_documented_one() {
    const auto tasks = [](std::size_t branches, int64_t samples, bool native, int threads) {
        return resolve({branches, samples, native}, threads) == Schedule::branch_tasks;
    };
    CHECK(tasks(2, 4096, true, 2) && tasks(100, 0, true, 1024));
    CHECK(!tasks(1, 10, true, 8) && !tasks(2, 4097, true, 2) && !tasks(2, 10, false, 2) && !tasks(2, 10, true, 1));
}

// A chain of steps over numbers of its own: step k turns every number from k into k + 1, and nothing else will do.
struct Chain {
    std::vector<int32_t> numbers;
    std::vector<std::thread::id> threads;
};
struct Link {
    Chain* chain;
    int32_t place;
};

int32_t follow(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    CHECK(run->more == nullptr);    // the samples of a stage are its branches
    const Link& link = *static_cast<Link*>(args);
    for (int64_t i = begin; i < end; ++i) {
        int32_t& number = link.chain->numbers[static_cast<std::size_t>(i)];    // plain: one thread at a time, or a race
        CHECK(number == link.place);
        ++number;
    }
    if (begin == 0) link.chain->threads[static_cast<std::size_t>(link.place)] = std::this_thread::get_id();
    return 0;
}

void check_chains(std::size_t branches, int32_t length, double cost, Schedule schedule) {
    std::vector<Chain> chains(branches);
    std::vector<Link> links;
    links.reserve(branches * static_cast<std::size_t>(length));
    std::vector<Job> jobs;
    for (Chain& chain : chains) {
        chain.numbers.assign(50, 0);
        chain.threads.resize(static_cast<std::size_t>(length));
        for (int32_t k = 0; k < length; ++k) {
            links.push_back({&chain, k});
            jobs.push_back({follow, &links.back(), 50, 1, cost});
        }
    }
    std::vector<Branch> each;
    for (std::size_t b = 0; b < branches; ++b)
        each.push_back({jobs.data() + b * static_cast<std::size_t>(length), static_cast<std::size_t>(length)});
    const Stage stage = stage_of(each.data(), each.size(), schedule);
    CHECK(run_stages(&stage, 1, 1).code == 0);
    for (const Chain& chain : chains) {
        for (const int32_t number : chain.numbers) CHECK(number == length);
        if (schedule != Schedule::branch_tasks) continue;
        for (const std::thread::id thread : chain.threads) CHECK(thread == chain.threads[0]);
    }
}

void each_branch_runs_in_order_on_one_thread() {
    for (const int threads : {1, 2, 3, 6})
        for (const std::size_t branches : {2, 3, 9}) {
            set_team_size(threads);
            check_chains(branches, 5, kDear, Schedule::branch_tasks);
            check_chains(branches, 5, 1.0, Schedule::branch_tasks);
            check_chains(branches, 5, kDear, Schedule::work_share);
        }
    set_team_size(4);
}

int32_t fail(void* args, int64_t begin, int64_t end, const eagle_run*) {
    static_cast<std::atomic<int64_t>*>(args)->fetch_add(end - begin);
    return 7;
}
int32_t pass(void* args, int64_t begin, int64_t end, const eagle_run*) {
    static_cast<std::atomic<int64_t>*>(args)->fetch_add(end - begin);
    return 0;
}

void the_lowest_rank_that_failed_is_reported_and_everything_runs() {
    std::atomic<int64_t> ran{0};
    const auto job = [&](eagle_entry entry, int32_t rank) { return Job{entry, &ran, 10, 1, kDear, rank}; };
    const Job first[] = {job(pass, 0), job(fail, 4)}, second[] = {job(pass, 1), job(fail, 3)}, third[] = {job(fail, 5)};
    const Branch branches[] = {{first, 2}, {second, 2}, {third, 1}};
    for (int i = 0; i < 100; ++i) {
        const RunEnd end = runHostBranches(branches, 3);
        CHECK(end.rank == 3 && end.code == 7 && end.repetition == 0);
    }
    CHECK(ran == 5000);
    const Stage stages[] = {stage_of(branches, 3, Schedule::branch_tasks), stage_of(branches, 1, Schedule::work_share)};
    const RunEnd end = run_stages(stages, 2, 10);
    CHECK(end.rank == 3 && end.code == 7 && end.repetition == 0 && ran == 5070);
}

int32_t until_stopped(void*, int64_t, int64_t, const eagle_run* run) {
    while (!asked_to_stop(run)) run->poll(run);
    return -1;
}

struct StopsAtOnce final : Watch {
    bool interrupted() noexcept override { return true; }
};

void a_watch_stops_branches() {
    const Job endless{until_stopped, nullptr, 10, 1, kDear, 2};
    const Branch branches[] = {{&endless, 1}, {&endless, 1}, {&endless, 1}};
    StopsAtOnce watch;
    CHECK(runHostBranches(branches, 3, &watch).code < 0);
}

int32_t rounding(void*, int64_t, int64_t, const eagle_run*) {
    const bool nearest = std::fegetround() == FE_TONEAREST;
    std::fesetround(FE_DOWNWARD);
    return nearest ? 0 : 1;
}

void every_job_of_a_branch_has_the_default_floating_point_environment() {
    const Job jobs[] = {{rounding, nullptr, 1, 1, kDear}, {rounding, nullptr, 1, 1, kDear}};
    const Branch branches[] = {{jobs, 2}, {jobs, 2}};
    std::fesetround(FE_UPWARD);
    CHECK(runHostBranches(branches, 2).code == 0 && std::fegetround() == FE_UPWARD);
    std::fesetround(FE_TONEAREST);
}

void branches_of_many_callers_and_of_jobs_run_in_place() {
    auto nest = [](int64_t, int64_t) { check_chains(3, 4, kDear, Schedule::branch_tasks); };
    CHECK(run(job_of(nest, 20, kDear)) == 0);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([] {
            for (int i = 0; i < 30; ++i) check_chains(4, 3, kDear, Schedule::branch_tasks);
        });
    for (std::thread& caller : callers) caller.join();
}

void callables_are_jobs() {
    std::vector<int64_t> numbers(1000);
    auto fill = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) numbers[static_cast<std::size_t>(i)] = i;
    };
    auto refuse = [](int64_t, int64_t, const eagle_run* run) { return run->size == sizeof(eagle_run) ? 3 : 4; };
    CHECK(run(job_of(fill, 1000, kDear)) == 0 && run(job_of(refuse, 10)) == 3);
    for (int64_t i = 0; i < 1000; ++i) CHECK(numbers[static_cast<std::size_t>(i)] == i);
}

}  // namespace

int main() {
    set_team_size(4);
    the_rule_is_the_documented_one();
    each_branch_runs_in_order_on_one_thread();
    the_lowest_rank_that_failed_is_reported_and_everything_runs();
    a_watch_stops_branches();
    every_job_of_a_branch_has_the_default_floating_point_environment();
    branches_of_many_callers_and_of_jobs_run_in_place();
    callables_are_jobs();
    std::puts("branches: fine");
}
