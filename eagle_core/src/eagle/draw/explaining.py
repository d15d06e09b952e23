"""Why one node waits for another, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eagle.access import Edge, before, edges, first_race
from eagle.draw.names import UNICODE
from eagle.errors import GraphError, GraphTypeError
from eagle.plugin.blueprint import Placed
from eagle.plugin.suggestions import did_you_mean

if TYPE_CHECKING:
    from eagle.graph import Graph, Stage

__all__ = ["explain"]


def explain(graph: Graph, a: str, b: str) -> str:
    """Return whether and why node `b` waits for node `a`.

    Raises
    ------
    GraphError
        There is no such node.
    """
    return _Question(graph._snapshot(), a, b).answer()


class _Question:
    def __init__(self, stages: tuple[Stage, ...], a: str, b: str) -> None:
        self.stages = stages
        self.nodes: list[Placed[Any]] = [placed for stage in stages for placed in stage.nodes]
        self.place = {
            placed.index: (number, branch)
            for number, stage in enumerate(stages)
            for branch, members in enumerate(stage.branches)
            for placed in members
        }
        index = {placed.label: placed.index for placed in self.nodes}
        self.a, self.b = (_found(index, label) for label in (a, b))

    def answer(self) -> str:
        first, second = self._label(self.a), self._label(self.b)
        if self.a == self.b:
            return f"{first} is one node, which does not wait for itself."
        if self.a > self.b:
            turned = self.__class__.__new__(self.__class__)
            turned.stages, turned.nodes, turned.place = self.stages, self.nodes, self.place
            turned.a, turned.b = self.b, self.a
            return f"{second} does not wait for {first}: it was added before it. The other way round: {turned.answer()}"
        if self._siblings():
            return self._about_siblings(first, second)
        if reasons := self._hazards(self.a, self.b):
            return f"{second} waits for {first}: " + "; ".join(map(self._reason, reasons)) + "."
        path = self._path()
        if not path:
            return f"{first} and {second} may overlap: they share no memory that either writes, and nothing orders them."
        if len(path) > 2:
            steps = "; ".join(self._step(one, other) for one, other in zip(path, path[1:], strict=False))
            return f"{second} waits for {first} by way of {self._labels(path[1:-1])}: {steps}."
        return f"{second} waits for {first}: {self._order(self.a, self.b)}. They share no memory that either writes."

    def _siblings(self) -> bool:
        (stage, branch), (other, beside) = self.place[self.a], self.place[self.b]
        return stage == other and branch != beside

    def _about_siblings(self, first: str, second: str) -> str:
        stage = self.place[self.a][0]
        where = f"{first} and {second} are in different branches of the group at stage {stage}"
        pair = [self.nodes[self.a], self.nodes[self.b]]
        race = first_race(pair, [[0], [1]])
        if race is None:
            return f"{where}, and share no memory that either writes: they may overlap."
        verbs = ["writes" if writes else "reads" for writes in (race.first_writes, race.second_writes)]
        return (
            f"{where}, and would race, which build refuses: {first} {verbs[0]} {_name(race.first_plane)}, "
            f"{second} {verbs[1]} {_name(race.second_plane)}, and the two share memory."
        )

    def _hazards(self, src: int, dst: int) -> tuple[Edge, ...]:
        one, other = self.nodes[src], self.nodes[dst]
        return edges([one, other], [[[0]], [[1]]])

    def _reason(self, edge: Edge) -> str:
        words = {"RAW": "read after write", "WAR": "write after read", "WAW": "write after write"}
        return f"{_name(edge.plane)}, {edge.meaning} ({edge.kind}: {words[edge.kind]})"

    def _path(self) -> list[int]:
        """Return the fewest nodes that lead from the first to the second in the order the graph must keep, or none."""
        waits = before(self.nodes, [stage.indices for stage in self.stages])
        came: dict[int, int] = {}
        rim = [self.b]
        while rim and self.a not in came:
            found = []
            for node in rim:
                for other in waits[node]:
                    if other >= self.a and other not in came:
                        came[other] = node
                        found.append(other)
            rim = found
        if self.a not in came:
            return []
        path = [self.a]
        while path[-1] != self.b:
            path.append(came[path[-1]])
        return path

    def _step(self, src: int, dst: int) -> str:
        reasons = self._hazards(src, dst)
        why = "; ".join(map(self._reason, reasons)) if reasons else self._order(src, dst)
        return f"{self._label(dst)} waits for {self._label(src)} ({why})"

    def _order(self, src: int, dst: int) -> str:
        """Say what orders two nodes that share nothing."""
        blind = [index for index in (src, dst) if not self.nodes[index].complete_access]
        if blind:
            verb = "keeps its place" if len(blind) == 1 else "keep their places"
            return f"eagle cannot see into {self._labels(blind)}, which {verb} in the order of adding"
        for index in (src, dst):
            stage = self.place[index][0]
            if self.stages[stage].is_group:
                return f"the group at stage {stage} starts and ends as a whole"
        return "something between them orders them"

    def _label(self, index: int) -> str:
        return _name(self.nodes[index].label)

    def _labels(self, indices: list[int]) -> str:
        labels = [self._label(index) for index in indices]
        if len(labels) > 6:
            labels = [*labels[:3], f"{len(labels) - 4} more", labels[-1]]
        return " and ".join((", ".join(labels[:-1]), labels[-1]) if len(labels) > 1 else labels)


def _found(index: dict[str, int], label: object) -> int:
    if not isinstance(label, str):
        raise GraphTypeError(f"explain takes the labels of two nodes, not {label!r}", fix="See g.node_labels().")
    if label not in index:
        raise GraphError(
            f"the graph has no node {label!r}", fix=did_you_mean(label, index) or "g.node_labels() lists the nodes."
        )
    return index[label]


def _name(name: str) -> str:
    return UNICODE.spell(name)
