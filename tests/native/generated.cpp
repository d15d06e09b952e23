// Generated code on the thread team, for the sanitizers and valgrind: kernels.py compiles it and describes it in table.h.
//
// Sanitizers do not instrument generated code. They see the team around it, the memory it is given and the functions of
// the C library it calls. What generated code itself accesses is seen by valgrind (memcheck for memory, helgrind for
// races), byte by byte, and by guard pages in every build.

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "eagle/exec/run.h"
#include "home.h"
#include "table.h"

using namespace eagle::exec;

namespace {

constexpr double kDear = 1e5;    // ns a sample: worth waking everybody, however few samples there are
constexpr int64_t kMany = 700;
constexpr int kCallers = 3;
constexpr Home kHomes[] = {Home::heap, Home::before_guard, Home::after_guard};

// CHECK that says of which entry, too. What is checked has no effects.
#define REQUIRE(subject, what)                                                        \
    do {                                                                              \
        if (!(what)) std::fprintf(stderr, "%s: something is wrong\n", (subject).name); \
        CHECK(what);                                                                  \
    } while (false)

std::size_t size_of(Type type) {
    return type == Type::boolean ? 1 : type == Type::float64 || type == Type::int64 ? 8 : 4;
}

// An element that depends on nothing but where it is: parts of an array hold what the whole one does.
void put(char* place, Type type, uint64_t where) {
    uint64_t bits = (where + 1) * 0x9E3779B97F4A7C15u;    // the mixing of SplitMix64
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    const double real = static_cast<double>(bits % 8001) / 1000 - 4;
    const int whole = static_cast<int>((bits >> 32) % 24) - 3;
    const auto write = [place](auto number) { std::memcpy(place, &number, sizeof number); };
    switch (type) {
        case Type::float64: return write(real);
        case Type::float32: return write(static_cast<float>(real));
        case Type::int64: return write(static_cast<int64_t>(whole));
        case Type::int32: return write(static_cast<int32_t>(whole));
        case Type::uint32: return write(static_cast<uint32_t>(whole));
        case Type::boolean: return write(static_cast<uint8_t>(std::max(whole - 17, 0)));    // any byte but 0 is true
    }
}

// One launch over the samples begin .. end, of which alone there is memory.
class Launch {
  public:
    Launch(const Subject& subject, int64_t begin, int64_t end, Home home)
        : subject_(subject), begin_(begin), end_(end),
          block_(subject.name, "the block of arguments", 1, sizeof(int64_t) * static_cast<std::size_t>(subject.words), home) {
        std::fill_n(words(), subject.words, 0);
        words()[kFaultSample] = kNoSample;
        for (const Given& given : subject.given) words()[given.word] = given.value;
        for (std::size_t i = 0; i < subject.arrays.size(); ++i) add(subject.arrays[i], i, home);
    }

    // All samples at once, or some, on this thread.
    int32_t run_here() { return run_here(begin_, end_); }
    int32_t run_here(int64_t begin, int64_t end) { return subject_.entry(words(), begin, end, nullptr); }

    // From sample 0, cut and spread over the team.
    int32_t run_on_team(int64_t grain, double cost, Watch* watch = nullptr) {
        Job job{subject_.entry, words(), end_, grain, cost};
        job.streams = true;
        return run(job, watch);
    }

    bool unused_is_untouched() const {
        return block_.unused_is_untouched() && std::all_of(arrays_.begin(), arrays_.end(), [](const auto& array) {
                   return array->unused_is_untouched();
               });
    }

    // Whether every array holds what another launch, of at least these samples, has at the same places.
    bool same_arrays(const Launch& other) const {
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            const Array& array = subject_.arrays[i];
            const int64_t skipped = array.length == 0 ? begin_ - other.begin_ : 0;
            for (int row = 0; row < array.rows; ++row) {
                const char* theirs = other.arrays_[i]->row(row) + static_cast<std::size_t>(skipped) * size_of(array.type);
                if (std::memcmp(arrays_[i]->row(row), theirs, arrays_[i]->bytes()) != 0) return false;
            }
        }
        return true;
    }

    bool same_outcome(const Launch& other) const { return std::equal(words(), words() + kOutcomeWords, other.words()); }

    int64_t fault() const { return words()[kFaultSample]; }

  private:
    int64_t* words() const { return reinterpret_cast<int64_t*>(block_.row(0)); }

    void add(const Array& array, std::size_t number, Home home) {
        const int64_t first = array.length == 0 ? begin_ : 0, count = array.length == 0 ? end_ - begin_ : array.length;
        const std::size_t size = size_of(array.type);
        const std::size_t bytes = static_cast<std::size_t>(count) * size;
        arrays_.push_back(std::make_unique<Rows>(subject_.name, array.name, array.rows, bytes, home));
        const Rows& rows = *arrays_.back();
        for (int row = 0; row < array.rows; ++row)
            for (int64_t i = 0; i < count; ++i)
                put(rows.row(row) + static_cast<std::size_t>(i) * size, array.type,
                    (number * 8 + static_cast<uint64_t>(row)) * 100'000 + static_cast<uint64_t>(first + i));
        // Where sample 0 would be.
        words()[array.word] = reinterpret_cast<int64_t>(rows.row(0)) - first * static_cast<int64_t>(size);
        if (array.stride >= 0) words()[array.stride] = rows.stride();
    }

    const Subject& subject_;
    const int64_t begin_, end_;
    const Rows block_;
    std::vector<std::unique_ptr<Rows>> arrays_;
};

// What every other way to run it has to give: all samples at once, on one thread.
struct Expected {
    Launch launch;
    int32_t code;

    Expected(const Subject& subject, int64_t samples) : launch(subject, 0, samples, Home::heap), code(launch.run_here()) {
        const Launch before(subject, 0, samples, Home::heap);
        REQUIRE(subject, samples < kMany || (!launch.same_arrays(before) && (code > 0) == subject.faults));
    }
};

void check_on_team(const Subject& subject, Home home) {
    for (const int64_t samples : {int64_t{1}, subject.lanes - 1, subject.lanes, subject.lanes + 1, kMany}) {
        const Expected expected(subject, samples);
        for (const int64_t grain : {int64_t{1}, int64_t{7}, subject.lanes, INT64_MAX}) {
            Launch launch(subject, 0, samples, home);
            const int32_t code = launch.run_on_team(grain, kDear);
            REQUIRE(subject, code == expected.code);
            REQUIRE(subject, launch.same_arrays(expected.launch) && launch.same_outcome(expected.launch));
            REQUIRE(subject, launch.unused_is_untouched());
        }
    }
}

// A chunk is given no memory of other samples, so that none can depend on, or race with, another.
void check_parts(const Subject& subject, Home home, std::mt19937& random) {
    const Expected expected(subject, kMany);
    for (int64_t begin = 0, end; begin < kMany; begin = end) {
        end = std::min<int64_t>(kMany, begin + 1 + random() % static_cast<unsigned>(3 * subject.lanes));
        Launch launch(subject, begin, end, home);
        const int32_t code = launch.run_here();
        REQUIRE(subject, code >= 0 && (code == 0) == (launch.fault() == kNoSample));
        const int64_t first = expected.launch.fault();
        // The lowest fault of all is that of its part; those of other parts are higher, kNoSample being the highest.
        REQUIRE(subject, begin <= first && first < end ? launch.fault() == first : launch.fault() >= first);
        REQUIRE(subject, launch.same_arrays(expected.launch) && launch.unused_is_untouched());
    }
}

// Chunks of one launch on threads of their own, without the team: race detectors of valgrind's see every access of
// generated code, and know threads that begin and end, but not the team's atomics.
void check_threads(const Subject& subject) {
    const Expected expected(subject, kMany);
    Launch launch(subject, 0, kMany, Home::heap);
    std::vector<std::thread> threads;
    for (int64_t thread = 0; thread < kCallers; ++thread)
        threads.emplace_back([&, thread] {
            for (int64_t begin = 7 * thread; begin < kMany; begin += 7 * kCallers)
                launch.run_here(begin, std::min<int64_t>(begin + 7, kMany));
        });
    for (std::thread& thread : threads) thread.join();
    REQUIRE(subject, launch.same_arrays(expected.launch) && launch.same_outcome(expected.launch));
}

struct StopsAtOnce final : Watch {
    bool interrupted() noexcept override { return true; }
};

void check_stop(const Subject& subject, Home home) {
    StopsAtOnce watch;
    Launch launch(subject, 0, kMany, home);
    const int32_t code = launch.run_on_team(subject.lanes, kDear, &watch);
    REQUIRE(subject, code < 0 && launch.unused_is_untouched());
}

// Callers compete for the team, each with other code than the others at a time.
template <typename Check>
void check_all(const char* what, bool endless, Check check) {
    std::vector<const Subject*> chosen;
    for (const Subject& subject : subjects)
        if (subject.endless == endless) chosen.push_back(&subject);
    for (const Home home : kHomes) {
        std::vector<std::thread> callers;
        std::atomic<std::size_t> next{0};
        for (int caller = 0; caller < kCallers; ++caller)
            callers.emplace_back([&, caller] {
                std::mt19937 random(static_cast<unsigned>(caller));
                for (std::size_t i; (i = next.fetch_add(1)) < chosen.size();) check(*chosen[i], home, random);
            });
        for (std::thread& caller : callers) caller.join();
        std::printf("generated: %zu entries, %s, arrays %s: fine\n", chosen.size(), what, name_of(home));
        std::fflush(stdout);
    }
}

}  // namespace

// With an argument, what is for race detectors alone.
int main(int count, char**) {
    Rows::report_touched_guards();
    if (count > 1) {
        int entries = 0;
        for (const Subject& subject : subjects) {
            if (subject.endless) continue;
            check_threads(subject);
            ++entries;
        }
        std::printf("generated: %d entries, on threads without the team: fine\n", entries);
        return 0;
    }
    set_team_size(3);
    check_all("on the team", false, [](const Subject& subject, Home home, std::mt19937&) { check_on_team(subject, home); });
    check_all("in parts", false, check_parts);
    check_all("stopped", true, [](const Subject& subject, Home home, std::mt19937&) { check_stop(subject, home); });
}
