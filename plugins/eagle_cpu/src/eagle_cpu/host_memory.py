"""Where host memory begins and ends, and whether two planes of it share a byte."""

from __future__ import annotations

import numpy as np

from eagle.plugin import Memory, host_view

__all__ = ["overlap", "span"]

_MAX_WORK = 100_000
"""How much work the exact test of two strided views may take before they count as sharing."""


def span(memory: Memory) -> tuple[int, int]:
    """Return the first address of host memory, and one past its last byte; equal where it holds nothing."""
    if 0 in memory.shape:
        return memory.address, memory.address
    if len(memory.shape) == 1:  # as most are: a graph asks for thousands
        reach_1d = memory.strides[0] * (memory.shape[0] - 1)
        return memory.address + min(reach_1d, 0), memory.address + max(reach_1d, 0) + memory.itemsize
    reach = [stride * (count - 1) for stride, count in zip(memory.strides, memory.shape, strict=True)]
    low = memory.address + sum(one for one in reach if one < 0)
    return low, memory.address + sum(one for one in reach if one > 0) + memory.itemsize


def overlap(a: Memory, b: Memory) -> bool:
    """Whether two host planes share a byte: exact up to some work, and True past it."""
    (low, high), (start, end) = span(a), span(b)
    if low >= end or start >= high:
        return False
    try:
        return bool(np.shares_memory(host_view(a), host_view(b), max_work=_MAX_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
