"""Binding a launch to other arrays in the graphs it stands in: in all of them, or in none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from eagle.errors import GraphError
from eagle.graph.backend_choice import choose_backend
from eagle.graph.claims import note_launches
from eagle.graph.freezing import frozen
from eagle.graph.placing import place
from eagle.graph.stage import Stage
from eagle.plugin.blueprint import Blueprint, Placed
from eagle.plugin.kernels import Launch
from eagle.plugin.nodes import Node

if TYPE_CHECKING:
    from eagle.graph.graph import Graph

__all__ = ["rebind"]

_Changed: TypeAlias = "tuple[list[Stage], Blueprint, tuple[int, ...]]"


def rebind(graphs: Iterable[Graph], old: Launch, new: Launch) -> None:
    """Put `new` in the place of `old`. A built graph is patched by its backend where that can, else built again.

    Raises
    ------
    GraphError
        Nodes would have to wait for each other differently, or the launch stands inside a conditional.
    RaceError, PlaneError, Busy
        As for `Graph.build`.
    """
    changes = [(graph, _changed(graph, old, new)) for graph in graphs]
    for done, (graph, change) in enumerate(changes):
        try:
            graph._guard.hold(partial(graph._rebind, *change))
        except BaseException:
            for earlier, _ in changes[:done]:
                earlier._rebind(*_changed(earlier, new, old))
            raise
    for graph, (_, blueprint, indices) in changes:
        note_launches(graph, (blueprint.nodes[index] for index in indices))


def _changed(graph: Graph, old: Launch, new: Launch) -> _Changed:
    """Return the graph with the new launch, and where that stands, checked against the graph as it is."""

    def exchanged(placed: Placed[Any]) -> Placed[Any]:
        if placed.node.payload is not old:
            return placed
        return place(Node("launch", new, placed.node.name), index=placed.index, label=placed.label)

    stages = [
        Stage(branches=tuple(tuple(map(exchanged, branch)) for branch in stage.branches), titles=stage.titles)
        for stage in graph._stages
    ]
    before, after = frozen(graph._stages), frozen(stages)
    _refuse(old, "stands inside it", [outer.label for outer in before.nodes if _holds(outer, old)])
    if graph._backend is not None:
        choose_backend(after.nodes, graph._backend)
    waits = zip(after.nodes, before.before, after.before, strict=True)
    _refuse(old, "it would have to wait for other nodes", [one.label for one, was, now in waits if was != now])
    return stages, after, tuple(one.index for one in before.nodes if one.node.payload is old)


def _refuse(old: Launch, why: str, labels: list[str]) -> None:
    if labels:
        raise GraphError(
            f"a graph cannot go on with kernel {old.kernel.name!r} bound to other arrays, because of {labels[0]!r}",
            why=f"{why}, and what is built is fixed",
            fix="Bind the plan anew and build a graph over that.",
            nodes=labels,
        )


def _holds(placed: Placed[Any], old: Launch) -> bool:
    inner = [one for body in placed.bodies for one in body.nodes]
    return any(one.node.payload is old or _holds(one, old) for one in inner)
