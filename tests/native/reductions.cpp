// Reductions without Python, for the sanitizers: every code of every width, over memory that ends with the last element.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "eagle/exec/run.h"
#include "eagle/reduce/entries.h"

using namespace eagle;
using reduce::Width;

namespace {

constexpr double kDear = 1e5;    // ns an element: worth waking everybody

// The rule, one element at a time.
template <class Sum>
Sum ordered_sum(std::vector<Sum> values) {
    while (values.size() > 1) {
        std::vector<Sum> results;
        for (std::size_t begin = 0; begin < values.size(); begin += 4096) {
            const std::size_t count = std::min<std::size_t>(4096, values.size() - begin);
            std::vector<Sum> lanes(values.begin() + begin, values.begin() + begin + std::min<std::size_t>(64, count));
            for (std::size_t i = 64; i < count; ++i) lanes[i % 64] += values[begin + i];
            for (std::size_t half = 32; half > 0; half /= 2)
                for (std::size_t l = 0; l < half && l + half < lanes.size(); ++l) lanes[l] += lanes[l + half];
            results.push_back(lanes[0]);
        }
        values = results;
    }
    return values[0];
}

template <class T>
T ordered_sum_of(const std::vector<T>& x) {
    using Sum = typename reduce::Addend<T>::type;
    return static_cast<T>(ordered_sum(std::vector<Sum>(x.begin(), x.end())));
}

template <class T>
T extreme_of(const std::vector<T>& x, bool largest) {
    T best = x[0];
    for (const T value : x) {
        if (value != value) return value;
        const bool beyond = largest ? value > best : value < best;
        if (beyond || (value == best && std::signbit(double(value)) != largest)) best = value;
    }
    return best;
}

template <class T>
bool same(T a, T b) {
    return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Puts the values at a stride into memory of exactly that size, and runs the code of every width over them.
template <class T>
void check(const char* op, const char* dtype, const std::vector<T>& values, int64_t step, T expected) {
    const int64_t count = static_cast<int64_t>(values.size()), room = (count - 1) * std::abs(step) + 1;
    const std::unique_ptr<T[]> memory(new T[static_cast<std::size_t>(room)]());
    T* const first = step < 0 ? memory.get() + room - 1 : memory.get();
    for (int64_t i = 0; i < count; ++i) first[i * step] = values[static_cast<std::size_t>(i)];
    for (const Width width : {Width::narrow, Width::middle, Width::wide}) {
        if (!reduce::supported(width)) continue;
        const std::unique_ptr<T> out(new T());
        reduce::Reduction reduction({reinterpret_cast<const char*>(first), step * int64_t{sizeof(T)}}, count, out.get());
        for (int repeat = 0; repeat < 2; ++repeat) {
            *out = T(3);
            CHECK(exec::run({reduce::entries(op, dtype, width).run, &reduction, count, reduce::kBlock, kDear}) == 0);
            CHECK(same(*out, expected));
        }
    }
}

template <class T, class Draw>
void check_numbers(const char* dtype, const Draw& draw) {
    for (const int64_t count : {1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 20'000})
        for (const int64_t step : {1, -1, 3}) {
            std::vector<T> x(static_cast<std::size_t>(count));
            for (T& value : x) value = draw();
            check<T>("sum", dtype, x, step, ordered_sum_of(x));
            check<T>("max", dtype, x, step, extreme_of(x, true));
            check<T>("min", dtype, x, step, extreme_of(x, false));
        }
}

void numbers_reduce_by_the_rule() {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    const auto real = [&] {
        const double specials[] = {0.0, -0.0, INFINITY, NAN};
        return random() % 3000 < 4 ? specials[random() % 4] : normal(random);
    };
    check_numbers<double>("float64", real);
    check_numbers<float>("float32", [&] { return static_cast<float>(real()); });
    check_numbers<int64_t>("int64", [&] { return static_cast<int64_t>(random()); });
    check_numbers<int32_t>("int32", [&] { return static_cast<int32_t>(random()); });
    check_numbers<double>("float64", [&] { return random() % 2 == 0 ? 0.0 : -0.0; });
}

void truths_reduce() {
    for (const std::size_t count : {1, 63, 64, 65, 4096, 4097, 100'000})
        for (const std::size_t at : {std::size_t{0}, count / 2, count - 1})
            for (const int64_t step : {1, -1, 5}) {
                std::vector<uint8_t> yes(count, 1), no(count, 0);
                check<uint8_t>("all", "bool", yes, step, 1);
                check<uint8_t>("any", "bool", no, step, 0);
                yes[at] = 0;
                no[at] = 2;
                check<uint8_t>("all", "bool", yes, step, 0);
                check<uint8_t>("any", "bool", no, step, 1);
            }
}

void nothing_reduces_to_the_neutral_element() {
    double sum = 3;
    uint8_t all = 3, any = 3;
    reduce::Reduction of_sum({nullptr, 8}, 0, &sum), of_all({nullptr, 1}, 0, &all), of_any({nullptr, 1}, 0, &any);
    CHECK(exec::run({reduce::entries("sum", "float64").run, &of_sum, 1}) == 0 && sum == 0 && !std::signbit(sum));
    CHECK(exec::run({reduce::entries("all", "bool").run, &of_all, 1}) == 0 && all == 1);
    CHECK(exec::run({reduce::entries("any", "bool").run, &of_any, 1}) == 0 && any == 0);
}

struct StopsAtOnce final : exec::Watch {
    bool interrupted() noexcept override { return true; }
};

void a_stopped_run_is_forgotten() {
    std::vector<double> x(3'000'000, 1.0);
    double sum = 0;
    reduce::Reduction reduction({reinterpret_cast<const char*>(x.data()), 8}, 3'000'000, &sum);
    const exec::Job job{reduce::entries("sum", "float64").run, &reduction, 3'000'000, reduce::kBlock, 1.0};
    StopsAtOnce watch;
    while (exec::run(job, &watch) == 0) {
    }
    x.assign(x.size(), 2.0);
    reduction.reset();
    CHECK(exec::run(job) == 0 && sum == 6e6);
}

}  // namespace

int main() {
    exec::set_team_size(4);
    numbers_reduce_by_the_rule();
    truths_reduce();
    nothing_reduces_to_the_neutral_element();
    a_stopped_run_is_forgotten();
    std::puts("reductions: fine");
}
