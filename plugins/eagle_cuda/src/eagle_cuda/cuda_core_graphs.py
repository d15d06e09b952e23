"""Graphs of cuda.core as child graphs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from eagle.plugin import BuildError, ForeignGraph
from eagle_cuda.adopting import graph_version

__all__ = ["adopt"]


def adopt(owner: object) -> ForeignGraph | None:
    """Return the graph of a `GraphDefinition`, or of a `GraphBuilder` that has ended building; None for anything else.

    Raises
    ------
    BuildError
        The builder is closed or still building; or it is an instantiated `Graph`, which the driver cannot put into
        another one.
    """
    from cuda.core import graph

    if isinstance(owner, graph.GraphDefinition):
        return _foreign(owner, owner)
    if isinstance(owner, graph.Graph):
        raise BuildError(
            "the child is an instantiated cuda.core Graph, which can only be launched",
            fix="Pass the GraphBuilder or the GraphDefinition it was made from.",
        )
    if not isinstance(owner, graph.GraphBuilder):
        return None
    if owner.is_closed:
        raise BuildError("the child is a cuda.core GraphBuilder that was closed", fix="Build it before closing it.")
    if owner.is_building:
        raise BuildError("the child is a cuda.core GraphBuilder still building", fix="Call its end_building() first.")
    return _foreign(owner, owner.graph_definition)


def _foreign(owner: Any, definition: Any) -> ForeignGraph:
    # The definition is a view that keeps the graph alive, so that its handle stays its own.
    handle = int(definition.handle)

    def version() -> Hashable:
        return bool(getattr(owner, "is_closed", False)), graph_version(handle)

    return ForeignGraph(backend="gpu", graph=handle, version=version, keep=(owner, definition))
