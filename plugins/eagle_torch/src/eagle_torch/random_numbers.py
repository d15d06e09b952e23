"""Whether a graph that torch captured draws random numbers, which only torch's own replay makes new ones."""

from __future__ import annotations

import struct

from eagle.plugin import BuildError

__all__ = ["refuse_random"]


def refuse_random(graph: int) -> None:
    """Raise `BuildError` if a kernel of the graph takes the state of a generator.

    A captured kernel reads seed and offset from two cells of device memory, which ``CUDAGraph.replay`` sets anew each
    time. Launched by anybody else, it would draw the same numbers for ever.
    """
    from eagle_cuda import kernels_of

    for name, arguments in kernels_of(graph):
        if any(map(_holds_state, arguments)):
            raise BuildError(
                "the child graph draws random numbers",
                why=f"kernel {name[:120]!r} reads the state of a generator, which only CUDAGraph.replay() advances, so "
                "that every launch would draw the same numbers",
                fix="Call replay() in an opaque with stream= or eager=True, or draw the numbers outside the graph into "
                "a tensor that it reads.",
            )


_CELL = 512  # bytes to which torch's allocator rounds and aligns: seed and offset are two allocations
_MOST_DRAWN = 1 << 40


def _holds_state(argument: bytes) -> bool:
    """Whether an argument holds a generator's state as code that is captured gets it, at any place in it.

    It is a structure of four words: the addresses of seed and offset, the numbers drawn in the graph so far, which are
    counted in fours, and a byte that says that it is captured (``ATen/cuda/detail/PhiloxCudaStateRaw.cuh``).
    """
    for start in range(0, len(argument) - 31, 8):
        seed, offset, drawn, captured = struct.unpack_from("<QQQB", argument, start)
        cells = seed and offset and seed != offset and not (seed % _CELL or offset % _CELL)
        if cells and captured == 1 and drawn % 4 == 0 and drawn < _MOST_DRAWN and _near(seed, offset):
            return True
    return False


def _near(seed: int, offset: int) -> bool:
    """Whether the two may be cells of device memory: as high as the driver's addresses are, and of one arena."""
    return min(seed, offset) > 1 << 32 and abs(seed - offset) < 1 << 40
