"""Reductions in the documented order, so that the bits depend on nothing but the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eagle.plugin import Placed, Step
from eagle_cpu.context import CpuContext

__all__ = ["lower", "ordered_sum"]

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 4096
LANES = 64


def lower(placed: Placed[Any], context: CpuContext) -> Step:
    """Reduce ``x`` into ``out``."""
    placed.node.payload.refuse_empty(placed)
    planes = {plane.access.name: context.view(plane) for plane in placed.planes}
    x, out = planes["x"], planes["out"].reshape(-1)
    reduce = _OPS[placed.node.payload.op]

    def run() -> None:
        out[0] = reduce(x)

    return context.over_memory(placed, run)


def ordered_sum(x: Array) -> Any:
    """Return the sum of a 1-D array in the documented order.

    Elements in logical order are cut in blocks of 4096. In a block, lane ``l`` of 64 adds elements ``l``, ``l + 64``,
    ``l + 128``, ... in that order, starting from its first; the lanes fold by halves, lane ``l`` adding lane
    ``l + h`` for ``h`` = 32, 16, 8, 4, 2, 1 where that exists. The blocks' results, in order, are summed by the same
    rule until one is left. float32 is added in float64 and rounded once; integers wrap; the empty sum is +0.

    Parameters
    ----------
    x : array, shape (n,)
        float64, float32, int64 or int32, any stride.

    Returns
    -------
    scalar of the dtype of `x`
    """
    if not x.size:
        return x.dtype.type(0)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = x if x.dtype != np.float32 else x.astype(np.float64)
        while True:
            sums = _block_sums(sums)
            if sums.size == 1:
                return sums[0].astype(x.dtype)


def _block_sums(x: Array) -> Array:
    whole = x.size // BLOCK
    results = np.empty(whole + (x.size % BLOCK != 0), x.dtype)
    if whole:
        rows = x[: whole * BLOCK].reshape(whole, BLOCK // LANES, LANES)
        results[:whole] = _fold(_lane_sums(rows))
    if whole < results.size:
        rest = x[whole * BLOCK :]
        full = rest.size // LANES
        last = rest[full * LANES :]
        if full:
            lanes = _lane_sums(rest[: full * LANES].reshape(1, full, LANES))
            lanes[0, : last.size] += last
        else:
            lanes = last.reshape(1, -1).copy()
        results[whole:] = _fold(lanes)
    return results


def _lane_sums(rows: Array) -> Array:
    """Add the rows of every block one after another: (blocks, rows, lanes) -> (blocks, lanes)."""
    lanes = rows[:, 0].copy()
    for row in range(1, rows.shape[1]):
        lanes += rows[:, row]
    return lanes


def _fold(lanes: Array) -> Array:
    """Fold the lanes of every block by halves: (blocks, lanes) -> (blocks,)."""
    half = LANES // 2
    while half:
        if lanes.shape[1] > half:
            lanes[:, : lanes.shape[1] - half] += lanes[:, half:]
            lanes = lanes[:, :half]
        half //= 2
    return lanes[:, 0]


def _maximum(x: Array) -> Any:
    """Return the largest element; NaN if there is one; +0 is larger than -0, which NumPy leaves to the order."""
    largest = x.max()
    if largest == 0 and x.dtype.kind == "f":
        zeros = x[x == 0]
        return x.dtype.type(-0.0 if np.signbit(zeros).all() else 0.0)
    return largest


def _minimum(x: Array) -> Any:
    """Return the smallest element; NaN if there is one; -0 is smaller than +0."""
    smallest = x.min()
    if smallest == 0 and x.dtype.kind == "f":
        zeros = x[x == 0]
        return x.dtype.type(-0.0 if np.signbit(zeros).any() else 0.0)
    return smallest


_OPS: dict[str, Callable[[Array], Any]] = {
    "sum": ordered_sum,
    "max": _maximum,
    "min": _minimum,
    "all": np.all,
    "any": np.any,
}
