"""Graphs that a framework captured, put into ours as one node each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from eagle.plugin import BuildError, ForeignGraph
from eagle_cuda.driver import api, call
from eagle_cuda.graph_builder import GraphBuilder

__all__ = ["embedded", "graph_version"]

_CHILD = 4
# By CUgraphNodeType: what a child graph may not hold (CUDA driver API, cuGraphAddChildGraphNode), and what the body of
# a conditional may not (conditional node requirements), where a child counts by what it holds.
_NEVER = {10: "allocates memory", 11: "frees memory", 13: "holds a conditional"}
_NOT_IN_BODIES = {
    **_NEVER,
    3: "calls the host",
    6: "waits for an event",
    7: "records an event",
    8: "signals a semaphore",
    9: "waits for a semaphore",
    12: "holds memory operations in batches",
}


def embedded(graph: ForeignGraph) -> Callable[[GraphBuilder, Sequence[int]], Sequence[int]]:
    """Return what puts a copy of a driver's graph into ours as one node.

    Raises
    ------
    BuildError
        Raised by what is returned: the driver cannot put such a graph into another one.
    """

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        source = api().CUgraph(_handle(graph))
        refused = _NOT_IN_BODIES if builder.in_body else _NEVER
        for kind in _kinds(source):
            if kind in refused:
                raise _refusal(refused[kind], builder.in_body)
        return [builder.child(source, after)]

    return build


def graph_version(handle: int) -> Hashable:
    """Return a value that differs once a graph was captured anew: its handle with those of its nodes.

    The driver gives the handle of a graph that was destroyed to one that is made later; those of the nodes differ.
    """
    return handle, tuple(int(node) for node in _nodes(api().CUgraph(handle)))


def _handle(graph: ForeignGraph) -> int:
    if isinstance(graph.graph, int):
        return graph.graph
    raise BuildError(
        "the child graph is a callable, and a captured graph cannot call the host",
        fix="Call it in an opaque with stream= or eager=True.",
    )


def _nodes(graph: Any) -> Sequence[Any]:
    count = call("cuGraphGetNodes", graph)[-1]
    return list(call("cuGraphGetNodes", graph, count)[0])[:count] if count else ()


def _kinds(graph: Any) -> Iterator[int]:
    """Yield the kind of every node, those of children inside it too."""
    for node in _nodes(graph):
        kind = int(call("cuGraphNodeGetType", node))
        yield kind
        if kind == _CHILD:
            yield from _kinds(call("cuGraphChildGraphNodeGetGraph", node))


def _refusal(what: str, in_body: bool) -> BuildError:
    where = "a child graph inside a conditional or a loop" if in_body else "a child graph"
    way_out = "; outside the conditional it could stand" if in_body and what not in _NEVER.values() else ""
    return BuildError(
        f"the child graph {what}, which the driver allows in no {where.removeprefix('a ')}",
        fix=f"Replay it in an opaque with stream=, or capture it without that{way_out}.",
    )
