"""The order a graph must keep, as the fewest pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eagle.access.traffic import Traffic
from eagle.plugin.blueprint import Placed

__all__ = ["before", "hazard_order", "reduce_pairs"]

Stages = Sequence[Sequence[Sequence[int]]]


def before(nodes: Sequence[Placed[Any]], stages: Stages) -> tuple[tuple[int, ...], ...]:
    """Return for every node the fewest nodes it must wait for.

    Kept are (a) every hazard between nodes that are not siblings, (b) a group's fork and join, and (c) the order of
    adding between two nodes, not in different branches of one group, of which either lacks complete access.

    A graph is a row of blocks that wait for each other whole: a group, a node without complete access, a run of
    nodes with it. Only inside a run does memory decide, so only runs are swept.

    Parameters
    ----------
    nodes : sequence of Placed
    stages : sequence
        ``stages[s][b]``: the indices of the nodes of branch ``b``. Together they hold every node, in order.
    """
    waits: list[tuple[int, ...]] = [()] * len(nodes)
    ends: list[int] = []
    run: list[int] = []
    for branches in stages:
        if len(branches) == 1:
            run.extend(branches[0])
        else:
            ends = _chain(nodes, run, ends, waits)
            ends = [end for branch in branches for end in _chain(nodes, branch, ends, waits)]
            run = []
    _chain(nodes, run, ends, waits)
    return tuple(waits)


def hazard_order(traffic: Traffic) -> list[tuple[int, ...]]:
    """Return for every node of `traffic` the fewest earlier ones it must wait for by memory alone.

    No two of the nodes may be siblings that race.
    """
    return reduce_pairs(_candidates(traffic))


def reduce_pairs(candidates: Iterable[Iterable[int]]) -> list[tuple[int, ...]]:
    """Return the transitive reduction of "node ``j`` waits for the nodes ``candidates[j]``", all smaller than ``j``.

    What is reachable is kept as bits of an integer per node. The reduction of an acyclic relation is unique (Aho,
    Garey and Ullman, 1972).
    """
    reach: list[int] = []
    waits = []
    for number, these in enumerate(candidates):
        seen = 0
        kept = []
        for other in sorted(these, reverse=True):
            if not seen >> other & 1:
                kept.append(other)
                seen |= reach[other]
        reach.append(seen | 1 << number)
        waits.append(tuple(reversed(kept)))
    return waits


def _chain(
    nodes: Sequence[Placed[Any]], indices: Sequence[int], ends: list[int], waits: list[tuple[int, ...]]
) -> list[int]:
    """Order `indices` behind `ends`, and return the nodes that the next block has to wait for."""
    run: list[int] = []
    for index in indices:
        if nodes[index].complete_access:
            run.append(index)
            continue
        ends = _run(nodes, run, ends, waits)
        run = []
        waits[index] = tuple(ends)
        ends = [index]
    return _run(nodes, run, ends, waits)


def _run(nodes: Sequence[Placed[Any]], run: list[int], ends: list[int], waits: list[tuple[int, ...]]) -> list[int]:
    """Order a run of nodes with complete access by memory."""
    if not run:
        return ends
    waited: set[int] = set()
    for index, local in zip(run, hazard_order(Traffic(nodes[index] for index in run)), strict=True):
        here = [run[other] for other in local]
        waits[index] = tuple(here or ends)
        waited.update(here)
    return [index for index in run if index not in waited]


def _candidates(traffic: Traffic) -> Iterable[set[int]]:
    """Yield for every node enough earlier nodes that all its hazards follow from them.

    A write to the very bytes of a footprint comes after all that touched it, so per footprint the last writer and
    the readers since stand for the rest; and what a node's own footprint was last written after, it is after too.
    """
    writer = [-1] * len(traffic.footprints)
    readers: list[list[int]] = [[] for _ in traffic.footprints]
    for number, touches in enumerate(traffic.touches):
        needed: set[int] = set()
        for touch in touches:
            last = writer[touch.footprint]
            for other in traffic.neighbours[touch.footprint]:
                if writer[other] >= max(last, 0):
                    needed.add(writer[other])
                if touch.writes:
                    for reader in reversed(readers[other]):
                        if reader < last:
                            break
                        needed.add(reader)
        yield needed
        for touch in touches:
            if touch.writes:
                writer[touch.footprint] = number
                readers[touch.footprint] = []
        for touch in touches:
            if touch.reads and not touch.writes:
                readers[touch.footprint].append(number)
