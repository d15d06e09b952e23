"""Which nodes touch which bytes: footprints met once, and the pairs of them that share a byte."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from math import gcd
from typing import Any, NamedTuple, TypeAlias

from eagle.access.footprint import MAX_WORK, Footprint, footprint, overlap
from eagle.plugin.arrays import Memory
from eagle.plugin.blueprint import Placed

__all__ = ["Touch", "Traffic"]

Dims: TypeAlias = tuple[tuple[int, int], ...]
_FULL_TESTS = 2000  # exact tests of a graph that may take all of MAX_WORK; later ones get a hundredth of it


class Touch(NamedTuple):
    """One plane of a node, by the number of its footprint."""

    footprint: int
    reads: bool
    writes: bool
    plane: str


class Traffic:
    """The memory traffic of some nodes.

    Parameters
    ----------
    nodes : iterable of Placed

    Attributes
    ----------
    touches : list of list of Touch
        Per node, in the order of declaration. A plane without a byte is left out.
    footprints : list of Footprint
    neighbours : list of list of int
        ``neighbours[f]``: the footprints that share a byte with ``f``, itself among them, ascending.
    """

    def __init__(self, nodes: Iterable[Placed[Any]]) -> None:
        self.footprints: list[Footprint] = []
        self._numbers: dict[Footprint, int] = {}
        self._seen: dict[Hashable, int] = {}
        self.touches: list[list[Touch]] = [self._touches(placed) for placed in nodes]
        self.neighbours = _neighbours(self.footprints)

    def _touches(self, placed: Placed[Any]) -> list[Touch]:
        touches = []
        for plane in placed.planes:
            memory, access = plane.memory, plane.access
            key = (memory.space, memory.address, memory.shape, memory.strides, memory.itemsize)
            number = self._seen.get(key)
            if number is None:
                number = self._seen[key] = self._number(memory)
            if number >= 0:
                touches.append(Touch(number, access.mode != "w", access.mode != "r", access.name))
        return touches

    def _number(self, memory: Memory) -> int:
        bytes_ = footprint(memory)
        number = self._numbers.setdefault(bytes_, len(self.footprints)) if bytes_.block else -1
        if number == len(self.footprints):
            self.footprints.append(bytes_)
        return number


def _neighbours(footprints: list[Footprint]) -> list[list[int]]:
    """Return which footprints share a byte; only those that may are tested exactly, and only so many at full work."""
    neighbours: list[list[int]] = [[number] for number in range(len(footprints))]
    for tests, (one, other) in enumerate(_suspects(footprints)):
        if overlap(footprints[one], footprints[other], MAX_WORK if tests < _FULL_TESTS else MAX_WORK // 100):
            neighbours[one].append(other)
            neighbours[other].append(one)
    for row in neighbours:
        row.sort()
    return neighbours


def _suspects(footprints: list[Footprint]) -> Iterator[tuple[int, int]]:
    """Yield the pairs whose byte ranges meet, by a sweep over first bytes in each space.

    Footprints with the same strides, such as the columns of a matrix, are swept among themselves by where their
    blocks lie within one stride instead, so that columns that never meet are never looked at in pairs.
    """
    spaces: dict[Hashable, dict[Dims, list[int]]] = {}
    for number, one in enumerate(footprints):
        spaces.setdefault(one.space, {}).setdefault(one.dims, []).append(number)
    for families in spaces.values():
        for dims, members in families.items():
            if dims and len(members) > 1:
                yield from _within(footprints, members, gcd(*(stride for stride, _ in dims)))
        everyone = [number for members in families.values() for number in members]
        yield from _between(footprints, sorted(everyone, key=lambda number: footprints[number].low))


def _between(footprints: list[Footprint], ascending: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs whose ranges meet, but for two of one strided family."""
    live: dict[Dims, list[int]] = {}
    for number in ascending:
        here = footprints[number]
        for dims, row in list(live.items()):
            row[:] = [other for other in row if footprints[other].high > here.low]
            if not row:
                del live[dims]
            elif dims != here.dims or not dims:
                yield from ((other, number) for other in row)
        live.setdefault(here.dims, []).append(number)


def _within(footprints: list[Footprint], members: list[int], period: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of one strided family whose blocks meet within the period."""
    pieces: list[tuple[int, int, int]] = []
    for number in members:
        start = footprints[number].low % period
        end = start + footprints[number].block
        pieces.append((start, min(end, period), number))
        if end > period:  # the block goes on in the next period
            pieces.append((0, min(end - period, period), number))
    live: list[tuple[int, int]] = []
    met: set[tuple[int, int]] = set()
    for start, end, number in sorted(pieces):
        live = [(other_end, other) for other_end, other in live if other_end > start]
        for _, other in live:
            pair = (min(number, other), max(number, other))
            if number != other and pair not in met:
                met.add(pair)
                yield pair
        live.append((end, number))
