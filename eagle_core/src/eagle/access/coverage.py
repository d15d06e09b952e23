"""Whether some memory lies inside other memory, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from eagle.access.footprint import Footprint

__all__ = ["covers"]

_MAX_BLOCKS = 1_000_000


def covers(outer: Sequence[Footprint], inner: Footprint) -> bool:
    """Whether every byte of `inner` is in one of `outer`: exact up to a million blocks, and False past it."""
    if not inner.block or inner in outer:
        return True
    near = [one for one in outer if one.space == inner.space and one.low < inner.high and inner.low < one.high]
    if any(not one.dims and one.low <= inner.low and inner.high <= one.high for one in near):
        return True
    if not near or sum(map(_blocks, (*near, inner))) > _MAX_BLOCKS:
        return False
    starts, ends = _union(near)
    wanted = _starts(inner)
    at = np.searchsorted(starts, wanted, side="right") - 1
    return bool(np.all((at >= 0) & (ends[at] >= wanted + inner.block)))


def _union(footprints: Sequence[Footprint]) -> tuple[np.ndarray, np.ndarray]:
    """Return all their blocks as disjoint intervals that do not touch, ascending: starts and ends."""
    starts = np.concatenate([_starts(one) for one in footprints])
    ends = np.concatenate([_starts(one) + one.block for one in footprints])
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    first = np.concatenate(([True], starts[1:] > ends[:-1]))
    last = np.concatenate((first[1:], [True]))
    return starts[first], ends[last]


def _starts(one: Footprint) -> np.ndarray:
    starts = np.array([one.low], np.int64)
    for stride, count in one.dims:
        starts = (starts[:, None] + np.arange(count, dtype=np.int64) * stride).ravel()
    return starts


def _blocks(one: Footprint) -> int:
    return prod(count for _, count in one.dims)
