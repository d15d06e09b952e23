"""A conditional stands in one place of one graph, for as long as that graph lives."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from eagle.errors import GraphError
from eagle.graph import payloads
from eagle.plugin.blueprint import Placed
from eagle.plugin.kernels import Launch

if TYPE_CHECKING:
    from eagle.graph.graph import Graph

__all__ = ["check_free", "claim", "conditionals", "note_launches", "release"]


def conditionals(nodes: Iterable[Placed[Any]]) -> Iterator[tuple[Placed[Any], payloads.Conditional]]:
    """Yield every conditional among `nodes` and inside them, with its state."""
    for placed in nodes:
        payload = placed.node.payload
        if isinstance(payload, payloads.Skippable | payloads.RepeatWhile):
            yield placed, payload.state
        for body in placed.bodies:
            yield from conditionals(body.nodes)


def check_free(graph: Graph | None, nodes: Iterable[Placed[Any]]) -> list[payloads.Conditional]:
    """Return the conditionals of `nodes` that `graph` would claim; None: nobody would.

    Raises
    ------
    GraphError
        One is in a living graph already, or stands twice among them.
    """
    states: list[payloads.Conditional] = []
    for placed, state in conditionals(nodes):
        owner = state.graph() if state.graph is not None else None
        here = owner is not None and owner is graph
        twice = any(state is other for other in states)
        if owner is not None or twice:
            where = "in this graph" if here or twice else "in another graph"
            raise GraphError(
                f"conditional {placed.label!r} is already {where}",
                why="its state is that of one place in one graph",
                fix="Make another one by calling skippable or repeat_while again.",
                nodes=(placed.label,),
            )
        states.append(state)
    return states


def claim(graph: Graph, nodes: Iterable[Placed[Any]]) -> list[payloads.Conditional]:
    """Give the conditionals of `nodes` to `graph`, which they do not keep alive, and return them. Raises as above."""
    with _lock:
        states = check_free(graph, nodes)
        for state in states:
            state.graph = weakref.ref(graph)
            state.iterations = state.hit_limit = None
    return states


def release(states: Iterable[payloads.Conditional]) -> None:
    """Take back a claim."""
    for state in states:
        state.graph = None


def note_launches(graph: Graph, nodes: Iterable[Placed[Any]]) -> None:
    """Note in every plan launch of `nodes`, and inside them, that it stands in `graph`."""
    for placed in nodes:
        if isinstance(placed.node.payload, Launch):
            placed.node.payload.graphs.add(graph)
        for body in placed.bodies:
            note_launches(graph, body.nodes)


_lock = threading.Lock()  # two threads may add one conditional to two graphs


def _remake_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_remake_lock)
