// Copies as jobs, for the sanitizers: every element arrives, nothing between them is touched, a stop is obeyed.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"
#include "eagle/exec.h"
#include "eagle/exec/copy.h"

using namespace eagle::exec;

namespace {

// The block Python writes: a head and three axes behind it.
struct Block {
    Copy head;
    CopyAxis axes[3];
};
static_assert(sizeof(Block) == sizeof(Copy) + 3 * sizeof(CopyAxis));

constexpr int64_t kPlanes = 5, kRows = 70, kItems = 300, kCount = kPlanes * kRows * kItems;

// From items side by side, the last axis backwards, to every second place.
void elements_of_any_size_arrive(int64_t item, double cost) {
    std::vector<unsigned char> from(static_cast<std::size_t>(kCount * item)), into(2 * from.size(), 0xee);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 37 % 251);
    const int64_t row = kItems * item, plane = kRows * row;
    Block block{{reinterpret_cast<const char*>(from.data()) + row - item, reinterpret_cast<char*>(into.data()), item, 3},
                {{kPlanes, plane, 2 * plane}, {kRows, row, 2 * row}, {kItems, -item, 2 * item}}};
    CHECK(run({run_copy, &block, kCount, 7, cost}) == 0);
    for (int64_t i = 0; i < kCount; ++i) {
        const int64_t source = i - i % kItems + kItems - 1 - i % kItems;
        const unsigned char* place = into.data() + 2 * i * item;
        CHECK(std::memcmp(place, from.data() + source * item, static_cast<std::size_t>(item)) == 0);
        CHECK(place[item] == 0xee);
    }
}

void dense_rows_arrive() {
    std::vector<double> from(kCount), into(kCount, -1.0);
    for (int64_t i = 0; i < kCount; ++i) from[static_cast<std::size_t>(i)] = static_cast<double>(i);
    Block block{{reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(into.data()), 8, 1}, {{kCount, 8, 8}}};
    CHECK(run({run_copy, &block, kCount, 64, 100.0}) == 0);
    CHECK(from == into);
}

void a_stop_is_seen() {
    std::vector<char> from(1 << 20, 1), into(1 << 20, 0);
    Block block{{from.data(), into.data(), 1, 1}, {{1 << 20, 1, 1}}};
    static std::atomic<int32_t> stop{0};
    const auto poll = [](const eagle_run*) { stop = 1; };
    const eagle_run seen{sizeof(eagle_run), 0, reinterpret_cast<const volatile int32_t*>(&stop), poll, nullptr};
    CHECK(run_copy(&block, 0, 1 << 20, &seen) < 0);
    CHECK(into.front() == 1 && into.back() == 0);
}

}  // namespace

int main() {
    set_team_size(4);
    for (const double cost : {1e-3, 100.0})
        for (const int64_t item : {1, 2, 3, 4, 8, 16}) elements_of_any_size_arrive(item, cost);
    dense_rows_arrive();
    a_stop_is_seen();
    shut_down();
}
