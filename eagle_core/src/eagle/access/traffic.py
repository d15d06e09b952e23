"""Which nodes touch which bytes: footprints met once, and the pairs of them that share a byte."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from eagle.access.footprint import Footprint, footprint, overlap
from eagle.plugin.arrays import Memory
from eagle.plugin.blueprint import Placed

__all__ = ["Touch", "Traffic"]


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
            number = self._number(plane.memory)
            if number >= 0:
                mode = plane.access.mode
                touches.append(Touch(number, mode != "w", mode != "r", plane.access.name))
        return touches

    def _number(self, memory: Memory) -> int:
        key = (memory.space, memory.address, memory.shape, memory.strides, memory.itemsize)
        number = self._seen.get(key)
        if number is None:
            bytes_ = footprint(memory)
            number = self._numbers.setdefault(bytes_, len(self.footprints)) if bytes_.block else -1
            if number == len(self.footprints):
                self.footprints.append(bytes_)
            self._seen[key] = number
        return number


def _neighbours(footprints: list[Footprint]) -> list[list[int]]:
    """Sweep each space by first byte; only footprints whose ranges meet are tested exactly."""
    neighbours: list[list[int]] = [[number] for number in range(len(footprints))]
    spaces: dict[Hashable, list[int]] = {}
    for number, one in enumerate(footprints):
        spaces.setdefault(one.space, []).append(number)
    for members in spaces.values():
        live: list[int] = []
        for number in sorted(members, key=lambda member: footprints[member].low):
            here = footprints[number]
            live = [other for other in live if footprints[other].high > here.low]
            for other in live:
                if overlap(footprints[other], here):
                    neighbours[other].append(number)
                    neighbours[number].append(other)
            live.append(number)
    for row in neighbours:
        row.sort()
    return neighbours
