"""Why one node waits for another, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from eagle.access import Edge, before, edges, first_race, reduced_edges
from eagle.draw.names import UNICODE
from eagle.errors import GraphError, GraphTypeError
from eagle.plugin.blueprint import Placed
from eagle.plugin.suggestions import did_you_mean

if TYPE_CHECKING:
    from eagle.graph import Graph, Stage

__all__ = ["explain"]

_TOLD = 6


def explain(graph: Graph, a: str, b: str) -> str:
    """Return whether and why node `b` waits for node `a`.

    Raises
    ------
    GraphError
        There is no such node.
    """
    account = _Account(graph._snapshot())
    return account.of(account.index(a), account.index(b))


class _Account:
    def __init__(self, stages: tuple[Stage, ...]) -> None:
        self.stages = stages
        self.nodes: list[Placed[Any]] = [placed for stage in stages for placed in stage.nodes]
        self.place = {
            placed.index: (number, branch)
            for number, stage in enumerate(stages)
            for branch, members in enumerate(stage.branches)
            for placed in members
        }

    def index(self, label: object) -> int:
        if not isinstance(label, str):
            raise GraphTypeError(f"explain takes the labels of two nodes, not {label!r}", fix="See g.node_labels().")
        index = {placed.label: placed.index for placed in self.nodes}
        if label not in index:
            fix = did_you_mean(label, index) or "g.node_labels() lists the nodes."
            raise GraphError(f"the graph has no node {label!r}", fix=fix)
        return index[label]

    def of(self, a: int, b: int) -> str:
        first, second = self._label(a), self._label(b)
        if a == b:
            return f"{first} is one node, which does not wait for itself."
        if a > b:
            return f"{second} does not wait for {first}, which comes after it. The other way round: {self.of(b, a)}"
        if self._siblings(a, b):
            return self._about_siblings(a, b)
        if reasons := self._hazards(a, b):
            return f"{second} waits for {first}: " + "; ".join(map(self._reason, reasons)) + "."
        path = self._path(a, b)
        if not path:
            return (
                f"{first} and {second} may overlap: they share no memory that either writes, and nothing orders them."
            )
        if len(path) > 2:
            steps = "; ".join(self._step(one, other) for one, other in pairwise(_ends(path)))
            return f"{second} waits for {first} by way of {self._labels(path[1:-1])}: {steps}."
        return f"{second} waits for {first}: {self._order(a, b)}. They share no memory that either writes."

    def _siblings(self, a: int, b: int) -> bool:
        (stage, branch), (other, beside) = self.place[a], self.place[b]
        return stage == other and branch != beside

    def _about_siblings(self, a: int, b: int) -> str:
        first, second = self._label(a), self._label(b)
        where = f"{first} and {second} are in different branches of the group at stage {self.place[a][0]}"
        race = first_race([self.nodes[a], self.nodes[b]], [[0], [1]])
        if race is None:
            return f"{where}, and share no memory that either writes: they may overlap."
        verbs = ["writes" if writes else "reads" for writes in (race.first_writes, race.second_writes)]
        return (
            f"{where}, and would race, which build refuses: {first} {verbs[0]} {_name(race.first_plane)}, "
            f"{second} {verbs[1]} {_name(race.second_plane)}, and the two share memory."
        )

    def _hazards(self, src: int, dst: int) -> tuple[Edge, ...]:
        return edges([self.nodes[src], self.nodes[dst]], [[[0]], [[1]]])

    def _reason(self, edge: Edge) -> str:
        words = {"RAW": "read after write", "WAR": "write after read", "WAW": "write after write"}
        return f"{_name(edge.plane)}, {edge.meaning} ({edge.kind}: {words[edge.kind]})"

    def _path(self, a: int, b: int) -> list[int]:
        """Return the nodes that lead from one to the other: by hazards if they do, else by all that has to be kept."""
        stages = [stage.indices for stage in self.stages]
        by_hazards: dict[int, list[int]] = {}
        for edge in reduced_edges(self.nodes, stages):
            by_hazards.setdefault(edge.dst, []).append(edge.src)
        return _shortest(by_hazards, a, b) or _shortest(dict(enumerate(before(self.nodes, stages))), a, b)

    def _step(self, src: int, dst: int) -> str:
        if src < 0 or dst < 0:
            return "and so on"
        reasons = self._hazards(src, dst)
        why = "; ".join(map(self._reason, reasons)) if reasons else self._order(src, dst)
        return f"{self._label(dst)} waits for {self._label(src)} ({why})"

    def _order(self, src: int, dst: int) -> str:
        """Say what orders two nodes that share nothing."""
        for index in (src, dst):
            stage = self.place[index][0]
            if self.stages[stage].is_group:
                return f"the group at stage {stage} starts and ends as a whole"
        blind = [index for index in (src, dst) if not self.nodes[index].complete_access]
        verb = "keeps its place" if len(blind) == 1 else "keep their places"
        return f"eagle cannot see into {self._labels(blind)}, which {verb} in the order of adding"

    def _label(self, index: int) -> str:
        return _name(self.nodes[index].label)

    def _labels(self, indices: Sequence[int]) -> str:
        labels = [self._label(index) for index in indices]
        if len(labels) > _TOLD:
            labels = [*labels[:3], f"{len(labels) - 4} more", labels[-1]]
        return " and ".join((", ".join(labels[:-1]), labels[-1]) if len(labels) > 1 else labels)


def _shortest(waits: Mapping[int, Sequence[int]], a: int, b: int) -> list[int]:
    """Return the fewest nodes that lead from `a` to `b`, or none."""
    came: dict[int, int] = {b: b}
    rim = [b]
    while rim and a not in came:
        found = []
        for node in rim:
            for other in waits.get(node, ()):
                if other >= a and other not in came:
                    came[other] = node
                    found.append(other)
        rim = found
    if a not in came:
        return []
    path = [a]
    while path[-1] != b:
        path.append(came[path[-1]])
    return path


def _ends(path: list[int]) -> list[int]:
    """Return a path, a long one with -1 for what lies between its ends."""
    return path if len(path) <= _TOLD + 2 else [*path[:4], -1, path[-2], path[-1]]


def _name(name: str) -> str:
    return UNICODE.spell(name)
