"""Graphs that a framework captured, put into ours as one node each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from eagle.plugin import BuildError, ForeignGraph
from eagle_cuda.driver import abilities, api, call
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.nodes import NEVER_IN_CHILD, NOT_IN_BODY, first_forbidden, nodes_of

__all__ = ["embedded", "graph_version"]


def embedded(graph: ForeignGraph) -> Callable[[GraphBuilder, Sequence[int]], Sequence[int]]:
    """Return what puts a copy of a driver's graph into ours as one node.

    Raises
    ------
    BuildError
        Raised by what is returned: the driver cannot put such a graph into another one.
    """

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        source = api().CUgraph(_handle(graph))
        nodes = nodes_of(source)
        found = first_forbidden(nodes, NOT_IN_BODY if builder.in_body else NEVER_IN_CHILD)
        if found is not None:
            raise _refusal(found, builder.in_body)
        return [builder.child(source, after)] if nodes else after

    return build


def graph_version(handle: int) -> Hashable:
    """Return a value that differs once a graph was captured anew or changed: its handle, number and nodes.

    The driver gives the handle of a graph that was destroyed to one that is made later. A driver for CUDA 13.1 numbers
    graphs; for an older one the handles of the nodes have to tell the two apart.
    """
    graph = api().CUgraph(handle)
    number = int(call("cuGraphGetId", graph)) if abilities().numbers_graphs else 0
    return handle, number, tuple(int(node) for node in nodes_of(graph))


def _handle(graph: ForeignGraph) -> int:
    if isinstance(graph.graph, int):
        return graph.graph
    raise BuildError(
        "the child graph is a callable, and a captured graph cannot call the host",
        fix="Call it in an opaque with stream= or eager=True.",
    )


def _refusal(what: str, in_body: bool) -> BuildError:
    where = "a child graph inside a conditional or a loop" if in_body else "a child graph"
    way_out = "; outside the conditional it could stand" if in_body and what not in NEVER_IN_CHILD.values() else ""
    return BuildError(
        f"the child graph {what}, which the driver allows in no {where.removeprefix('a ')}",
        fix=f"Replay it in an opaque with stream=, or capture it without that{way_out}.",
    )
