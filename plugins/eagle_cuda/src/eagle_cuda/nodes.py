"""The nodes of a graph of the driver, and which kinds may stand where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eagle_cuda.driver import api, call

__all__ = ["NEVER_IN_CHILD", "NOT_IN_BODY", "NOT_IN_GRAPH", "first_forbidden", "nodes_of", "piece"]

_CHILD = 4

# By CUgraphNodeType.
NOT_IN_GRAPH = {10: "allocates memory", 11: "frees memory"}
"""What captured code may not add: memory that a graph allocates would have to be freed before it is launched again."""
NEVER_IN_CHILD = {**NOT_IN_GRAPH, 13: "holds a conditional"}
"""What a child graph may not hold (CUDA driver API, cuGraphAddChildGraphNode)."""
NOT_IN_BODY = {
    **NEVER_IN_CHILD,
    3: "calls the host",
    6: "waits for an event",
    7: "records an event",
    8: "signals a semaphore",
    9: "waits for a semaphore",
    12: "holds memory operations in batches",
}
"""What the body of a conditional may not, where a child counts by what it holds (conditional node requirements)."""


def nodes_of(graph: Any) -> list[Any]:
    """Return every node of a graph, but not those inside its children."""
    return _all("cuGraphGetNodes", graph)


def piece(tails: Iterable[int], stop: Iterable[int]) -> list[Any]:
    """Return these nodes and everything they wait for, back to the nodes in `stop`, which are not returned."""
    node_type = api().CUgraphNode
    seen = set(stop)
    waiting, found = list(tails), []
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        handle = node_type(node)
        found.append(handle)
        waiting.extend(int(earlier) for earlier in _all("cuGraphNodeGetDependencies", handle))
    return found


def first_forbidden(nodes: Sequence[Any], forbidden: Mapping[int, str]) -> str | None:
    """Return what the first node of a forbidden kind does, those inside children too; None if there is none."""
    for node in nodes:
        kind = int(call("cuGraphNodeGetType", node))
        if kind in forbidden:
            return forbidden[kind]
        if kind == _CHILD:
            inner = nodes_of(call("cuGraphChildGraphNodeGetGraph", node))
            if (found := first_forbidden(inner, forbidden)) is not None:
                return found
    return None


def _all(function: str, of: Any) -> list[Any]:
    """Call a function that fills a list: once for its length, once for the list."""
    count = call(function, of)[-1]
    return list(call(function, of, count)[0])[:count] if count else []
