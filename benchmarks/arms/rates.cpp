// How fast one thread does one kind of work and nothing else: what a kernel that needs it can reach at most. Each function
// returns the seconds that so many operations took. Compiled for speed at the price of exactness, as a limit may be.
#include <chrono>
#include <cmath>
#include <cstdint>

namespace {

constexpr int kBlock = 2048;  // doubles, which the first cache holds twice

typedef double Lanes __attribute__((vector_size(64)));

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The compiler must take the values for used, and for unknown afterwards.
template <typename T>
void keep(T& values) {
    asm volatile("" : : "r"(&values) : "memory");
}

// Opaque after each step, so that no two steps become one.
template <typename Step, typename... Chains>
void advance(Step step, Chains&... chains) {
    const auto one = [&](Lanes& chain) {
        chain = step(chain);
        asm volatile("" : "+v"(chain));
    };
    (one(chains), ...);
}

// Twelve vectors in flight: enough to hide how long an addition takes, and few enough for a register each.
template <typename Step>
double chains(int64_t operations, Step step) {
    Lanes a = Lanes{} + 1.5, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
    const double start = now();
    for (int64_t round = operations / (12 * 8); round > 0; --round) advance(step, a, b, c, d, e, f, g, h, i, j, k, l);
    return now() - start;
}

template <typename Function>
double block(int64_t operations, double low, double high, Function function) {
    alignas(64) static thread_local double x[kBlock], y[kBlock];
    for (int i = 0; i < kBlock; ++i) x[i] = low + (high - low) * i / kBlock;
    const double start = now();
    for (int64_t round = 0; round < operations / kBlock; ++round) {
        for (int i = 0; i < kBlock; ++i) y[i] = function(x[i]);
        keep(y);
    }
    return now() - start;
}

}  // namespace

extern "C" {

double rate_add(int64_t operations) {
    return chains(operations, [](Lanes x) { return x + 1e-9; });
}

double rate_div(int64_t operations) {
    return chains(operations, [](Lanes x) { return 1.5 / x; });
}

double rate_sin(int64_t operations) {
    return block(operations, -1.0, 2.0, [](double x) { return std::sin(x); });
}

double rate_exp(int64_t operations) {
    return block(operations, -2.0, 0.0, [](double x) { return std::exp(x); });
}

double rate_gather(int64_t operations) {
    alignas(64) static thread_local double table[4096], y[kBlock];
    alignas(64) static thread_local int64_t at[kBlock];
    for (int i = 0; i < 4096; ++i) table[i] = i;
    for (int i = 0; i < kBlock; ++i) at[i] = (i * 1237 + 11) % 4096;
    const double start = now();
    for (int64_t round = 0; round < operations / kBlock; ++round) {
        for (int i = 0; i < kBlock; ++i) y[i] = table[at[i]];
        keep(y);
    }
    return now() - start;
}

// Reads two arrays and writes one of them: three elements are moved for each of `count`.
double rate_memory(double* x, const double* a, int64_t count, int64_t rounds) {
    const double start = now();
    for (int64_t round = 0; round < rounds; ++round) {
        for (int64_t i = 0; i < count; ++i) x[i] += a[i];
        keep(*x);
    }
    return now() - start;
}
}
