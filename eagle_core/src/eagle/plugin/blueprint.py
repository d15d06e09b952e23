"""What a backend is given: the graph, frozen and checked."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic

from eagle.errors import PlaneError
from eagle.plugin.arrays import ArrayAdapter, Memory
from eagle.plugin.nodes import Access, Node, NodeKind, P_co

__all__ = ["Blueprint", "Placed", "Plane"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plane:
    """One array a placed node touches, with the memory it had when the node was added.

    Attributes
    ----------
    access : Access
        As declared, after accesses to the same bytes under the same name were merged.
    memory : Memory
    adapter : ArrayAdapter
    mark : hashable
        ``adapter.probe(access.array)`` when the node was added.
    """

    access: Access
    memory: Memory
    adapter: ArrayAdapter
    mark: Hashable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed(Generic[P_co]):
    """A node at its place in a graph or a body.

    Attributes
    ----------
    index : int
        Its identity inside its blueprint.
    label : str
        Unique inside its blueprint.
    node : Node
    kind : NodeKind
    planes : tuple of Plane
        Its own, and everything its bodies touch.
    bodies : tuple of Blueprint
        Each frozen and checked like a graph.
    """

    index: int
    label: str
    node: Node[P_co]
    kind: NodeKind[Any]
    planes: tuple[Plane, ...]
    bodies: tuple[Blueprint, ...] = ()

    @property
    def complete_access(self) -> bool:
        """Whether it touches nothing but its planes: its kind and every node in its bodies promise so."""
        if not self.bodies:  # as most: a build asks for thousands
            return self.kind.complete_access
        return self.kind.complete_access and all(inner.complete_access for body in self.bodies for inner in body.nodes)

    def recheck(self, probed: dict[int, Hashable] | None = None) -> None:
        """Raise `PlaneError` if an array moved or changed its extent since the node was added.

        Parameters
        ----------
        probed : dict, optional
            What arrays were found to be, by their identity: each is probed once.
        """
        probed = {} if probed is None else probed
        for plane in self.planes:
            array = plane.access.array
            key = id(array)
            if key not in probed:
                probed[key] = plane.adapter.probe(array)
            if probed[key] != plane.mark:
                raise PlaneError(
                    "the array moved or was resized since it was added to the graph",
                    why=f"it was {_extent(plane.memory)} and is {_now(plane)}",
                    fix=plane.adapter.moved(array),
                    nodes=(self.label,),
                    planes=(plane.access.name,),
                )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blueprint:
    """A graph, or the body of a node, frozen: nodes, stages and the order they must keep. Immutable.

    Attributes
    ----------
    title : str
        ``"graph"``, or the title of the `Body`.
    nodes : tuple of Placed
        In the order of adding; a node's index in it is the node's identity everywhere.
    stages : tuple
        ``stages[s][b]`` holds the node indices of branch ``b`` of stage ``s``.
    before : tuple of tuple of int
        ``before[j]``: the fewest nodes that ``j`` must wait for, ascending. It keeps every hazard, a group's fork
        and join, and the order of adding of nodes without complete access.
    """

    title: str
    nodes: tuple[Placed[Any], ...]
    stages: tuple[tuple[tuple[int, ...], ...], ...]
    before: tuple[tuple[int, ...], ...]

    def recheck(self) -> None:
        """Raise `PlaneError`, naming node and plane, if any array moved since it was added."""
        probed: dict[int, Hashable] = {}
        for placed in self.nodes:
            placed.recheck(probed)

    def blame(self, error: BaseException, index: int, repetition: int | None = None) -> None:
        """Add a note to `error` that says which node it came from.

        Parameters
        ----------
        error : BaseException
            What escaped from the node. It is not changed otherwise.
        index : int
            The node's index.
        repetition : int, optional
            Which repetition of a launch it was, counted from 1.
        """
        placed = self.nodes[index]
        stage = next((s for s, branches in enumerate(self.stages) if any(index in branch for branch in branches)), 0)
        where = f"in node {placed.label!r} (kind {placed.kind.name!r}), stage {stage} of {self.title}"
        note = where if repetition is None else f"{where}, repetition {repetition}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _now(plane: Plane) -> str:
    try:
        return _extent(plane.adapter.describe(plane.access.array))
    except PlaneError as error:
        return f"gone: {error.what}"


def _extent(memory: Memory) -> str:
    return f"{memory.dtype}{list(memory.shape)} at {memory.address:#x}, strides {list(memory.strides)}"
