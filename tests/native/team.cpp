// The thread team without Python, for the sanitizers: callers that compete, jobs inside jobs, sizes that change, stops.

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "eagle/exec/run.h"

using namespace eagle::exec;

namespace {

constexpr double kDear = 1e5;    // ns a sample: worth waking everybody, however few samples there are

struct Counted {
    std::vector<int32_t> visits;
    int64_t grain;
};

int32_t count(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    auto& counted = *static_cast<Counted*>(args);
    CHECK(run->size == sizeof(eagle_run) && begin < end && begin % counted.grain == 0);
    for (int64_t i = begin; i < end; ++i) ++counted.visits[static_cast<std::size_t>(i)];    // plain: disjoint, or a race
    return 0;
}

void check_once(int64_t samples, int64_t grain, double cost) {
    Counted counted{std::vector<int32_t>(static_cast<std::size_t>(samples)), grain};
    CHECK(run({count, &counted, samples, grain, cost}) == 0);
    for (const int32_t visits : counted.visits) CHECK(visits == 1);
}

int32_t count_all(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    do {
        if (count(args, begin, end, run) != 0) return 1;
    } while (run->more(run, &begin, &end) != 0);
    CHECK(run->more(run, &begin, &end) == 0);
    return 0;
}

void code_that_asks_for_more_gets_every_sample_once() {
    for (const int size : {1, 2, 4}) {
        set_team_size(size);
        for (const int64_t samples : {int64_t{1}, int64_t{50}, int64_t{20'000}}) {
            Counted counted{std::vector<int32_t>(static_cast<std::size_t>(samples)), 3};
            Job job{count_all, &counted, samples, 3, kDear};
            job.streams = true;
            CHECK(run(job) == 0);
            for (const int32_t visits : counted.visits) CHECK(visits == 1);
        }
    }
    set_team_size(4);
}

void every_sample_is_visited_once() {
    std::mt19937 random(1);
    const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)) + 1; };
    for (int i = 0; i < 300; ++i) {
        if (i % 10 == 0) set_team_size(up_to(6));
        check_once(up_to(2000) - 1, up_to(100), i % 3 == 0 ? 1.0 : kDear);
    }
    check_once(1000, INT64_MAX, kDear);
    set_team_size(4);
}

void cuts_of_huge_jobs_do_not_overflow() {
    for (const int64_t grain : {int64_t{1}, int64_t{3}, INT64_MAX / 2, INT64_MAX}) {
        const Cut pieces = cut({count, nullptr, INT64_MAX, grain, 1.0}, 8);
        CHECK(pieces.begin(0) == 0 && pieces.end(pieces.count - 1) == INT64_MAX);
        for (int64_t i = 1; i < pieces.count; ++i) CHECK(pieces.begin(i) == pieces.end(i - 1));
    }
}

void long_chunks_come_before_short_ones() {
    const Cut pieces = cut({count, nullptr, 100'000, 32, kDear}, 2);
    CHECK(pieces.end(0) == 12'512 && pieces.begin(pieces.longs) == 6 * 12'512 && pieces.end(pieces.count - 1) == 100'000);
    for (int64_t i = pieces.longs; i < pieces.count; ++i) CHECK(pieces.end(i) - pieces.begin(i) <= 1'568);
}

void callers_compete_while_the_size_changes() {
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([] {
            for (int i = 0; i < 100; ++i) check_once(500, 7, kDear);
        });
    for (int i = 0; i < 100; ++i) set_team_size(i % 5 + 1);
    for (std::thread& caller : callers) caller.join();
    set_team_size(4);
}

int32_t nest(void* args, int64_t begin, int64_t end, const eagle_run*) {
    auto& total = *static_cast<std::atomic<int64_t>*>(args);
    for (int64_t i = begin; i < end; ++i) {
        check_once(50, 1, kDear);
        total.fetch_add(1);
    }
    return 0;
}

void jobs_call_the_team() {
    std::atomic<int64_t> total{0};
    for (int i = 0; i < 20; ++i) CHECK(run({nest, &total, 64, 1, kDear}) == 0);
    CHECK(total == 20 * 64);
}

int32_t fail(void* args, int64_t begin, int64_t end, const eagle_run*) {
    static_cast<std::atomic<int64_t>*>(args)->fetch_add(end - begin);
    return begin <= 30 && 30 < end ? 30 : begin <= 70 && 70 < end ? 70 : 0;
}

RunEnd repeat_in_order(const Job* jobs, std::size_t count, int64_t repetitions, Watch* watch = nullptr) {
    const Branch branch{jobs, count};
    const Stage stage = stage_of(&branch, 1, Schedule::work_share);
    return run_stages(&stage, 1, repetitions, watch);
}

void the_largest_code_is_returned_and_everything_runs() {
    std::atomic<int64_t> ran{0};
    const Job jobs[] = {{fail, &ran, 100, 1, kDear, 0}, {fail, &ran, 10, 1, kDear, 1}, {fail, &ran, 100, 1, kDear, 2}};
    for (int i = 0; i < 50; ++i) CHECK(run(jobs[0]) == 70);
    CHECK(ran == 5000);
    const RunEnd end = repeat_in_order(jobs, 3, 5);
    CHECK(end.repetition == 0 && end.rank == 0 && end.code == 70 && ran == 5210);
    const RunEnd fine = repeat_in_order(jobs + 1, 1, 100);
    CHECK(fine.code == 0 && ran == 6210);
}

int32_t until_stopped(void*, int64_t, int64_t, const eagle_run* run) {
    while (!asked_to_stop(run)) run->poll(run);
    return -1;
}

int32_t until_stopped_elsewhere(void*, int64_t, int64_t, const eagle_run* run) {
    if (run->worker == 0) return 0;    // the caller waits, and has to look itself
    return until_stopped(nullptr, 0, 0, run);
}

struct StopsAtOnce final : Watch {
    bool interrupted() noexcept override { return true; }
};

void a_watch_stops_endless_jobs() {
    for (const eagle_entry endless : {until_stopped, until_stopped_elsewhere}) {
        StopsAtOnce watch;
        const Job job{endless, nullptr, 1000, 1, kDear};
        const RunEnd end = repeat_in_order(&job, 1, INT64_MAX, &watch);
        CHECK(end.code < 0);
    }
    StopsAtOnce watch;
    const Job quick{count, nullptr, 0, 1, 1.0};
    CHECK(repeat_in_order(&quick, 1, INT64_MAX, &watch).code < 0);
}

int32_t ask_once_stopped(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    while (!asked_to_stop(run)) run->poll(run);
    CHECK(run->more(run, &begin, &end) == 0);
    static_cast<std::atomic<int>*>(args)->fetch_add(1);
    return -1;
}

void a_stopped_job_gives_no_more() {
    std::atomic<int> asked{0};
    StopsAtOnce watch;
    Job job{ask_once_stopped, &asked, 20'000, 1, kDear};
    job.streams = true;
    CHECK(run(job, &watch) < 0);
    CHECK(asked > 0);
}

int32_t rounding(void*, int64_t, int64_t, const eagle_run*) {
    const bool nearest = std::fegetround() == FE_TONEAREST;
    std::fesetround(FE_DOWNWARD);
    return nearest ? 0 : 1;
}

void the_floating_point_environment_is_the_default_and_comes_back() {
    std::fesetround(FE_UPWARD);
    for (const double cost : {1.0, kDear}) {
        const Job job{rounding, nullptr, 1, 1, cost};
        CHECK(run(job) == 0 && std::fegetround() == FE_UPWARD);
    }
    std::fesetround(FE_TONEAREST);
}

}  // namespace

int main() {
    set_team_size(4);
    every_sample_is_visited_once();
    code_that_asks_for_more_gets_every_sample_once();
    cuts_of_huge_jobs_do_not_overflow();
    long_chunks_come_before_short_ones();
    callers_compete_while_the_size_changes();
    jobs_call_the_team();
    the_largest_code_is_returned_and_everything_runs();
    a_watch_stops_endless_jobs();
    a_stopped_job_gives_no_more();
    the_floating_point_environment_is_the_default_and_comes_back();
    std::puts("team: fine");
}
