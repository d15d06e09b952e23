// Jobs tile by tile, for the sanitizers: every sample through all of them in order, failures kept per job, stops obeyed.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "check.h"
#include "eagle/exec.h"
#include "eagle/exec/tiles.h"

using namespace eagle::exec;

namespace {

// Turns every number from `place` into the next one, and nothing else will do; fails for one sample.
struct Turn {
    std::vector<int32_t>* numbers;
    int32_t place;
    int64_t failing;
    int64_t longest;
};

int32_t turn(void* args, int64_t begin, int64_t end, const eagle_run*) {
    const Turn& me = *static_cast<Turn*>(args);
    CHECK(begin < end && end - begin <= me.longest);
    for (int64_t i = begin; i < end; ++i) {
        int32_t& number = (*me.numbers)[static_cast<std::size_t>(i)];    // plain: one thread at a time, or a race
        CHECK(number == me.place);
        ++number;
    }
    return me.failing >= begin && me.failing < end ? me.place + 1 : 0;
}

int32_t give_up(void*, int64_t, int64_t, const eagle_run*) { return -1; }

// The block Python writes: a head and the pieces behind it.
struct Block {
    explicit Block(int64_t length, const std::vector<Turn*>& turns)
        : words(new int64_t[2 + 3 * turns.size()]()), tiles(reinterpret_cast<Tiles*>(words.get())) {
        words[0] = length;
        words[1] = static_cast<int64_t>(turns.size());
        for (std::size_t i = 0; i < turns.size(); ++i) {
            words[2 + 3 * i] = reinterpret_cast<int64_t>(&turn);
            words[3 + 3 * i] = reinterpret_cast<int64_t>(turns[i]);
        }
    }
    std::unique_ptr<int64_t[]> words;
    Tiles* tiles;
};

void every_sample_goes_through_all_in_order(int64_t samples, int64_t length, double cost) {
    std::vector<int32_t> numbers(static_cast<std::size_t>(samples), 0);
    std::vector<Turn> turns;
    for (int32_t place = 0; place < 4; ++place) turns.push_back({&numbers, place, -1, length});
    turns[1].failing = turns[2].failing = samples / 2;
    Block block(length, {&turns[0], &turns[1], &turns[2], &turns[3]});
    const int32_t code = run({run_tiles, block.tiles, samples, 8, cost});
    for (const int32_t number : numbers) CHECK(number == 4);
    CHECK(code == (samples > 0 ? 3 : 0));
    for (int place = 0; place < 4; ++place)
        CHECK(block.tiles->pieces()[place].code.load() == (samples > 0 && (place == 1 || place == 2) ? place + 1 : 0));
}

void a_piece_that_gives_up_ends_the_run() {
    std::vector<int32_t> numbers(100, 0);
    Turn first{&numbers, 0, -1, 10}, never{&numbers, 5, -1, 10};
    Block block(10, {&first, &first, &never});
    block.words[5] = reinterpret_cast<int64_t>(&give_up);
    CHECK(run({run_tiles, block.tiles, 100, 1, 1.0}) < 0);
    CHECK(numbers[9] == 1 && numbers[10] == 0);
}

void a_stop_is_seen_between_two_tiles() {
    std::vector<int32_t> numbers(100, 0);
    Turn only{&numbers, 0, -1, 10};
    Block block(10, {&only});
    static std::atomic<int32_t> stop;
    static int polls;
    stop = polls = 0;
    const auto poll = [](const eagle_run*) {
        if (++polls == 3) stop = 1;
    };
    const eagle_run seen{sizeof(eagle_run), 0, reinterpret_cast<const volatile int32_t*>(&stop), poll, nullptr};
    CHECK(run_tiles(block.tiles, 0, 100, &seen) < 0);
    CHECK(numbers[29] == 1 && numbers[30] == 0);
}

}  // namespace

int main() {
    set_team_size(4);
    for (const double cost : {0.1, 1e4})
        for (const int64_t samples : {0, 1, 8, 1000, 1001}) every_sample_goes_through_all_in_order(samples, 16, cost);
    a_piece_that_gives_up_ends_the_run();
    a_stop_is_seen_between_two_tiles();
    shut_down();
}
