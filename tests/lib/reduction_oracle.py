"""Reductions by the documented rules, in NumPy: the same elements in the same order, sharing no code with eagle."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["reduced", "same"]

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK, LANES = 4096, 64


def reduced(x: Array, op: str) -> Any:
    """Return what ``reduce(x, out, op)`` writes."""
    if op in ("all", "any"):
        return getattr(np, op)(x)
    return ordered_sum(x) if op == "sum" else extreme(x, op)


def same(a: Any, b: Any) -> bool:
    """Whether two numbers have the same bits; every NaN counts as one."""
    return bool(a != a and b != b) or (a.dtype == b.dtype and a.tobytes() == b.tobytes())


def ordered_sum(x: Array) -> Any:
    if not x.size:
        return x.dtype.type(0)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = x.astype(np.float64) if x.dtype == np.float32 else x
        sums = block_sums(sums)
        while sums.size > 1:
            sums = block_sums(sums)
        return sums[0].astype(x.dtype)


def block_sums(x: Array) -> Array:
    return np.array([block_sum(x[start : start + BLOCK]) for start in range(0, x.size, BLOCK)], x.dtype)


def block_sum(x: Array) -> Any:
    lanes = x[:LANES].copy()
    for start in range(LANES, x.size, LANES):
        row = x[start : start + LANES]
        lanes[: row.size] += row
    half = LANES // 2
    while half:
        lanes[: max(lanes.size - half, 0)] += lanes[half:]
        lanes = lanes[:half]
        half //= 2
    return lanes[0]


def extreme(x: Array, op: str) -> Any:
    """NaN if there is one; +0 is larger than -0, which NumPy leaves to the order."""
    found = getattr(x, op)()
    if found == 0 and x.dtype.kind == "f":
        negative = np.signbit(x[x == 0])
        return x.dtype.type(-0.0 if (negative.all() if op == "max" else negative.any()) else 0.0)
    return found
