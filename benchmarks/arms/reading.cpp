// Reads memory on several threads and does next to nothing with it: what a reduction can reach at most.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

typedef uint64_t Words __attribute__((vector_size(64)));

uint64_t read(const char* from, const char* end) {
    Words all[4] = {};
    for (; from + sizeof all <= end; from += sizeof all)
        for (int i = 0; i < 4; ++i) {
            Words words;
            std::memcpy(&words, from + i * sizeof words, sizeof words);
            all[i] |= words;
        }
    const Words some = (all[0] | all[1]) | (all[2] | all[3]);
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= some[i];
    return word;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

// The seconds each of the rounds took, from the start of the first thread's part to the end of the last one's. The threads
// are awake already.
extern "C" uint64_t read_rounds(const char* memory, int64_t bytes, int threads, int rounds, double* seconds) {
    std::atomic<int> arrived{0}, left{0};
    std::atomic<uint64_t> sink{0};
    const auto work = [&](int index) {
        const int64_t part = bytes / threads / 256 * 256;
        for (int round = 0; round < rounds; ++round) {
            arrived.fetch_add(1);
            while (arrived.load() < threads * (round + 1)) std::this_thread::yield();
            const double start = now();
            sink |= read(memory + index * part, memory + (index + 1) * part);
            left.fetch_add(1);
            while (left.load() < threads * (round + 1)) std::this_thread::yield();
            if (index == 0) seconds[round] = now() - start;
        }
    };
    std::vector<std::thread> others;
    for (int index = 1; index < threads; ++index) others.emplace_back(work, index);
    work(0);
    for (std::thread& other : others) other.join();
    return sink;
}
