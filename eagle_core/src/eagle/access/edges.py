"""The edges of a graph: every hazard between two of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from eagle.access.order import Stages, hazard_order, reduce_pairs
from eagle.access.races import first_race
from eagle.access.traffic import Traffic
from eagle.plugin.blueprint import Placed

__all__ = ["Edge", "edges", "reduced_edges"]

_MEANING = {"RAW": "data flows", "WAR": "must wait to overwrite", "WAW": "same output"}


class Edge(NamedTuple):
    """One reason why a node waits for an earlier one.

    Attributes
    ----------
    src, dst : int
        Indices into `Graph.node_labels`; ``src < dst``.
    plane : str
        The plane's name at `src`.
    kind : {"RAW", "WAR", "WAW"}
        Read after write, write after read, write after write.
    """

    src: int
    dst: int
    plane: str
    kind: str

    @property
    def meaning(self) -> str:
        """What the kind says, in plain words."""
        return _MEANING[self.kind]


def edges(nodes: Sequence[Placed[Any]], stages: Stages) -> tuple[Edge, ...]:
    """Return every hazard of every pair of nodes that are not siblings, once per kind and plane of the earlier node.

    Ordered by (src, dst), then RAW, WAR, WAW, then the earlier node's order of declaration. The work is linear in
    what is returned.
    """
    traffic = Traffic(nodes)
    return _list(traffic, _conflicting(traffic, _siblings(stages, len(nodes))))


def reduced_edges(nodes: Sequence[Placed[Any]], stages: Stages) -> tuple[Edge, ...]:
    """Return the hazards of the fewest pairs that give the same ordering of hazards."""
    traffic = Traffic(nodes)
    if any(first_race(nodes, branches) for branches in stages):
        # Siblings that race are not ordered, and the sweep counts on hazards being so: reduce the whole relation.
        candidates: list[set[int]] = [set() for _ in nodes]
        for src, dst in _conflicting(traffic, _siblings(stages, len(nodes))):
            candidates[dst].add(src)
        waits = reduce_pairs(candidates)
    else:
        waits = hazard_order(traffic)
    return _list(traffic, sorted((src, dst) for dst, these in enumerate(waits) for src in these))


def _list(traffic: Traffic, pairs: Iterable[tuple[int, int]]) -> tuple[Edge, ...]:
    reach = _reach(traffic)
    result: list[Edge] = []
    for src, dst in pairs:
        read, written = reach[dst]
        earlier = traffic.touches[src]
        hazards = (
            ("RAW", [touch.plane for touch in earlier if touch.writes and touch.footprint in read]),
            ("WAR", [touch.plane for touch in earlier if touch.reads and touch.footprint in written]),
            ("WAW", [touch.plane for touch in earlier if touch.writes and touch.footprint in written]),
        )
        for kind, names in hazards:
            result.extend(Edge(src, dst, name, kind) for name in dict.fromkeys(names))
    return tuple(result)


def _reach(traffic: Traffic) -> list[tuple[set[int], set[int]]]:
    """Return for every node the footprints that share a byte with what it reads, and with what it writes."""
    reach = []
    for touches in traffic.touches:
        read: set[int] = set()
        written: set[int] = set()
        for touch in touches:
            if touch.reads:
                read.update(traffic.neighbours[touch.footprint])
            if touch.writes:
                written.update(traffic.neighbours[touch.footprint])
        reach.append((read, written))
    return reach


def _conflicting(traffic: Traffic, siblings: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return every pair of nodes with a hazard that are not siblings, in order."""
    writers: list[list[int]] = [[] for _ in traffic.footprints]
    touchers: list[list[int]] = [[] for _ in traffic.footprints]
    pairs: list[tuple[int, int]] = []
    for number, touches in enumerate(traffic.touches):
        stage, branch = siblings[number]
        others: set[int] = set()
        for touch in touches:
            for other in traffic.neighbours[touch.footprint]:
                others.update(touchers[other] if touch.writes else writers[other])
        pairs.extend((src, number) for src in others if siblings[src][0] != stage or siblings[src][1] == branch)
        for touch in touches:
            touchers[touch.footprint].append(number)
            if touch.writes:
                writers[touch.footprint].append(number)
    pairs.sort()
    return pairs


def _siblings(stages: Stages, count: int) -> list[tuple[int, int]]:
    """Return (stage, branch) of every node; siblings have the same stage and different branches."""
    places = [(0, 0)] * count
    for stage, branches in enumerate(stages):
        for branch, members in enumerate(branches):
            for index in members:
                places[index] = (stage, branch)
    return places
