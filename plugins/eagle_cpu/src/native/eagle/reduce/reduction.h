// A reduction as a job of the team: blocks on any thread, and whoever does the last one folds their results.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "eagle/exec/abi.h"
#include "eagle/reduce/block.h"

namespace eagle::reduce {

// What the code of a reduction is handed. Made once, run many times, one run at a time.
class Reduction {
  public:
    Reduction(const Strided& x, int64_t count, void* out)
        : x(x), count(count), blocks(count / kBlock + (count % kBlock != 0)), out(out), spacing_(blocks < 256 ? 8 : 1),
          results_(blocks > 1 ? static_cast<std::size_t>(blocks * spacing_ + 8) : 0) {}

    // For after a run that was interrupted: its blocks do not count.
    void reset() noexcept {
        settled.store(false, std::memory_order_relaxed);
        done_.store(0, std::memory_order_relaxed);
    }

    // Whether these were the last blocks of the run. Then all results are visible, and the next run may begin.
    bool finished(int64_t more) noexcept {
        if (blocks <= 1) return true;
        if (done_.fetch_add(more, std::memory_order_acq_rel) + more != blocks) return false;
        done_.store(0, std::memory_order_relaxed);
        return true;
    }

    // The results of the blocks, as a plane. They begin with a cache line. In a short run threads take so few blocks at
    // a time that each result has a line of its own, in a long one they lie close.
    Strided results() noexcept {
        const auto address = reinterpret_cast<uintptr_t>(results_.data());
        return {reinterpret_cast<const char*>((address + 63) / 64 * 64), spacing_ * 8};
    }
    template <class T>
    void set_result(int64_t block, T result) noexcept {
        std::memcpy(const_cast<char*>(results().at(block)), &result, sizeof result);
    }

    const Strided x;
    const int64_t count, blocks;
    void* const out;
    std::atomic<bool> settled{false};    // the result is known before all elements were looked at

  private:
    const int64_t spacing_;
    std::vector<uint64_t> results_;
    alignas(64) std::atomic<int64_t> done_{0};    // a line of its own: every thread writes it
};

constexpr int64_t kBlocksPerLook = 16;

// Whether the run is to stop, asked once in a while.
inline bool stopped(const eagle_run* run, int64_t block) noexcept {
    if (block % kBlocksPerLook != kBlocksPerLook - 1) return false;
    run->poll(run);
    return __atomic_load_n(run->stop, __ATOMIC_RELAXED) != 0;
}

// A block's result; looks again where it may be NaN, for sure, and where it is a zero, for the sign.
template <class Op, int Bytes>
EAGLE_INLINE typename Op::Result result_of(const Strided& x, int64_t begin, int64_t count) noexcept {
    typename Op::Result result = block<Op, Bytes>(x, begin, count);
    if constexpr (Op::kZeros) {
        if (result != result) result = block<typename Op::Certain, Bytes>(x, begin, count);
        if (result == 0) result = Op::zero(block<typename Op::Zero, Bytes>(x, begin, count));
    }
    return result;
}

template <class Op, int Bytes>
EAGLE_INLINE typename Op::Result block_of(const Reduction& of, int64_t block_index) noexcept {
    const int64_t begin = block_index * kBlock;
    return result_of<Op, Bytes>(of.x, begin, std::min(kBlock, of.count - begin));
}

// Replaces the results of the blocks by their own blocks' results until one is left.
template <class Op, int Bytes>
EAGLE_INLINE typename Op::Result folded(Reduction& of) noexcept {
    using Again = typename Op::Again;
    const Strided results = of.results();
    int64_t left = of.blocks;
    while (left > 1) {
        int64_t next = 0;
        for (int64_t begin = 0; begin < left; begin += kBlock)
            of.set_result(next++, result_of<Again, Bytes>(results, begin, std::min(kBlock, left - begin)));
        left = next;
    }
    typename Op::Result last;
    std::memcpy(&last, results.first, sizeof last);
    return last;
}

template <class Op>
EAGLE_INLINE void write(const Reduction& of, typename Op::Result result) noexcept {
    const typename Op::Item rounded = Op::rounded(result);
    std::memcpy(of.out, &rounded, sizeof rounded);
}

// The job of a sum or an extreme.
template <class Op, int Bytes>
EAGLE_INLINE int32_t reduce_in_order(Reduction& of, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    typename Op::Result result = Op::of_nothing();
    if (of.blocks == 1) {
        result = block_of<Op, Bytes>(of, 0);
    } else if (of.blocks > 1) {
        const int64_t first = begin / kBlock, last = (end + kBlock - 1) / kBlock;
        for (int64_t b = first; b < last; ++b) {
            of.set_result(b, block_of<Op, Bytes>(of, b));
            if (stopped(run, b)) return -1;
        }
        if (!of.finished(last - first)) return 0;
        result = folded<Op, Bytes>(of);
    }
    write<Op>(of, result);
    return 0;
}

template <class Op>
EAGLE_INLINE void write_settled(Reduction& of) noexcept {
    const uint8_t result = Op::of(of.settled.exchange(false, std::memory_order_relaxed));
    std::memcpy(of.out, &result, sizeof result);
}

// The job of `all` and `any`: blocks are left out once it is settled.
template <class Op, int Bytes>
EAGLE_INLINE int32_t reduce_until_settled(Reduction& of, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    const int64_t first = begin / kBlock, last = of.blocks == 0 ? 0 : (end + kBlock - 1) / kBlock;
    for (int64_t b = first; b < last && !of.settled.load(std::memory_order_relaxed); ++b) {
        if (block_of<Op, Bytes>(of, b)) of.settled.store(true, std::memory_order_relaxed);
        if (stopped(run, b)) return -1;
    }
    if (of.finished(last - first)) write_settled<Op>(of);
    return 0;
}

template <class Op, int Bytes>
EAGLE_INLINE int32_t run_reduction(void* args, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    Reduction& of = *static_cast<Reduction*>(args);
    if constexpr (Op::kInOrder)
        return reduce_in_order<Op, Bytes>(of, begin, end, run);
    else
        return reduce_until_settled<Op, Bytes>(of, begin, end, run);
}

// Takes in a block whose lanes generated code has reduced, as it made the elements; the last one ends the run. Lanes hold
// `Op::Result`s, or for `all` and `any` bytes that are not 0 where a lane has settled it; without elements, the padding.
template <class Op, int Bytes>
EAGLE_INLINE void take_block(void* reduction, const void* lanes, int64_t block_index) noexcept {
    Reduction& of = *static_cast<Reduction*>(reduction);
    const char* const first = static_cast<const char*>(lanes);
    if constexpr (Op::kInOrder) {
        auto result = result_of<typename Op::Again, Bytes>({first, sizeof(typename Op::Result)}, 0, kLanes);
        if (of.blocks > 1) {
            of.set_result(block_index, result);
            if (!of.finished(1)) return;
            result = folded<Op, Bytes>(of);
        }
        write<Op>(of, result);
    } else {
        if (block<typename Op::Settled, Bytes>({first, 1}, 0, kLanes)) of.settled.store(true, std::memory_order_relaxed);
        if (of.finished(1)) write_settled<Op>(of);
    }
}

}  // namespace eagle::reduce
