"""Branches of one group that would race."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eagle.access.traffic import Traffic
from eagle.plugin.blueprint import Placed

__all__ = ["Race", "first_race"]


class Race(NamedTuple):
    """Two siblings and the planes by which one writes what the other touches.

    Attributes
    ----------
    first, second : int
        Indices of the nodes, ascending.
    first_plane, second_plane : str
    first_writes, second_writes : bool
    others : int
        How many further pairs of nodes race in the same group.
    """

    first: int
    second: int
    first_plane: str
    second_plane: str
    first_writes: bool
    second_writes: bool
    others: int


def first_race(nodes: Sequence[Placed[Any]], branches: Sequence[Sequence[int]]) -> Race | None:
    """Return the race between two branches of one stage with the lowest nodes, or None.

    Whether there is one is found per pair of footprints, from which branches write and touch them, without looking
    at pairs of nodes.
    """
    if len(branches) < 2:
        return None
    indices = [index for branch in branches for index in branch]
    branch_of = [number for number, branch in enumerate(branches) for _ in branch]
    traffic = Traffic(nodes[index] for index in indices)
    writing: list[set[int]] = [set() for _ in traffic.footprints]
    touching: list[set[int]] = [set() for _ in traffic.footprints]
    for branch, touches in zip(branch_of, traffic.touches, strict=True):
        for touch in touches:
            touching[touch.footprint].add(branch)
            if touch.writes:
                writing[touch.footprint].add(branch)
    racing = {
        (one, other)
        for one, row in enumerate(traffic.neighbours)
        for other in row
        if writing[one] and len(writing[one] | touching[other]) > 1
    }
    return _lowest(indices, branch_of, traffic, racing) if racing else None


def _lowest(indices: list[int], branch_of: list[int], traffic: Traffic, racing: set[tuple[int, int]]) -> Race:
    """Name the lowest pair of nodes among the footprints known to race."""
    found: dict[tuple[int, int], Race] = {}
    for second, touches in enumerate(traffic.touches):
        for first in range(second):
            if branch_of[first] == branch_of[second]:
                continue
            for a in traffic.touches[first]:
                for b in touches:
                    pair = (a.footprint, b.footprint)
                    if (a.writes and pair in racing) or (b.writes and pair[::-1] in racing):
                        race = Race(indices[first], indices[second], a.plane, b.plane, a.writes, b.writes, 0)
                        found.setdefault((race.first, race.second), race)
    return found[min(found)]._replace(others=len(found) - 1)
