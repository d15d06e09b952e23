"""Two arrays of one shape as nested rows: as few axes as tell where each element is in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eagle.plugin import Memory

__all__ = ["Pair", "nested", "pair_of"]


_MOST_PITCH = 2**31 - 1  # CU_DEVICE_ATTRIBUTE_MAX_PITCH of every device so far


@dataclass(frozen=True)
class Pair:
    """Where elements of equal index are, in two arrays; strides of the second one are positive and fall.

    Attributes
    ----------
    counts : tuple of int
        Elements along each axis, outermost first; none is 1.
    src, into : tuple of int
        Strides in bytes.
    src_address, into_address : int
        Of the first element.
    itemsize : int
    """

    counts: tuple[int, ...]
    src: tuple[int, ...]
    into: tuple[int, ...]
    src_address: int
    into_address: int
    itemsize: int

    @property
    def total(self) -> int:
        """How many elements there are."""
        total = 1
        for count in self.counts:
            total *= count
        return total


def pair_of(src: Memory, into: Memory, *, by_src: bool = False) -> Pair:
    """Return two arrays of one shape as a pair: axes turned to rise in `into`, or in `src`, sorted and joined.

    Parameters
    ----------
    src, into : Memory
        Not empty.
    by_src : bool
        Whether it is `src` whose strides are to be positive and to fall.
    """
    start = [src.address, into.address]
    axes = []
    for count, a, b in zip(src.shape, src.strides, into.strides, strict=True):
        if count == 1:
            continue
        if (a if by_src else b) < 0:
            start[0] += a * (count - 1)
            start[1] += b * (count - 1)
            a, b = -a, -b
        axes.append((count, a, b))
    axes.sort(key=lambda axis: axis[1 if by_src else 2], reverse=True)
    joined: list[tuple[int, int, int]] = []
    for count, a, b in axes:
        if joined and joined[-1][1:] == (a * count, b * count):
            joined[-1] = (joined[-1][0] * count, a, b)
        else:
            joined.append((count, a, b))
    counts, strides_src, strides_into = zip(*joined, strict=True) if joined else ((), (), ())
    return Pair(counts, strides_src, strides_into, start[0], start[1], src.itemsize)


def nested(counts: Sequence[int], *strides: Sequence[int], itemsize: int) -> tuple[int, int, int] | None:
    """Return bytes a row, rows and slices, if both arrays are rows at a pitch in slices at a pitch, as copies take it.

    None if they are not: the last axis is to be contiguous, every pitch positive, and a slice whole rows long.
    """
    inner = all(s[-1] == itemsize for s in strides) if counts else True
    width = (counts[-1] if counts else 1) * itemsize if inner else itemsize
    outer = list(range(len(counts) - 1 if inner and counts else len(counts)))
    if len(outer) > 2:
        return None
    for s in strides:
        if any(not width <= s[axis] <= _MOST_PITCH for axis in outer) or (len(outer) == 2 and s[0] % s[1]):
            return None
        if len(outer) == 2 and s[0] < s[1] * counts[1]:
            return None
    rows = counts[outer[-1]] if outer else 1
    return width, rows, counts[0] if len(outer) == 2 else 1
