// Several jobs over the same samples as one, tile by tile: what one leaves behind is still in the cache for the next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "eagle/exec/abi.h"
#include "eagle/exec/job.h"

namespace eagle::exec {

// One of the jobs, and the largest code of its failures: that tells which of them failed, whoever ran it.
struct Piece {
    eagle_entry entry;
    void* args;
    std::atomic<int64_t> code;
};

// What `run_tiles` is handed. `count` pieces lie behind it.
struct Tiles {
    int64_t length;    // samples of a tile: a multiple of every piece's grain
    int64_t count;

    Piece* pieces() noexcept { return reinterpret_cast<Piece*>(this + 1); }
};

// Python writes these as words of 64 bits.
static_assert(sizeof(Piece) == 24 && sizeof(Tiles) == 16 && sizeof(std::atomic<int64_t>) == sizeof(int64_t));

inline int32_t run_piece(Piece& piece, int64_t begin, int64_t end, const eagle_run* run) noexcept {
    const int32_t code = piece.entry(piece.args, begin, end, run);
    int64_t largest = piece.code.load(std::memory_order_relaxed);
    while (code > largest && !piece.code.compare_exchange_weak(largest, code, std::memory_order_relaxed)) {
    }
    return code;
}

// Pieces look whether to stop by counting what they do in one call, which in a tile is little: so this looks, too.
inline bool wants_stop(const eagle_run* run) noexcept {
    run->poll(run);
    return asked_to_stop(run);
}

// An `eagle_entry` that runs every piece over a tile before the next tile. Sample by sample that is the order in which the
// pieces ran one after another, so it is only for pieces that touch nothing of any other sample.
inline int32_t run_tiles(void* args, int64_t begin, int64_t end, const eagle_run* run) {
    Tiles& tiles = *static_cast<Tiles*>(args);
    int32_t worst = 0;
    for (int64_t tile = begin; tile < end; tile += tiles.length) {
        if (tile != begin && wants_stop(run)) return -1;
        const int64_t stop = std::min(tile + tiles.length, end);
        for (Piece* piece = tiles.pieces(); piece != tiles.pieces() + tiles.count; ++piece) {
            const int32_t code = run_piece(*piece, tile, stop, run);
            if (code < 0) return code;
            worst = std::max(worst, code);
        }
    }
    return worst;
}

}  // namespace eagle::exec
