"""Reading a graph, as it stands, into what a picture of it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eagle.access import Edge, reduced_edges
from eagle.draw.picture import Box, Branch, Frame, Key, Link, Picture, Row
from eagle.graph.payloads import Child, Opaque
from eagle.plugin.blueprint import Blueprint, Placed

if TYPE_CHECKING:
    from eagle.graph import Graph, Stage

__all__ = ["counted", "links_of", "read"]


def read(graph: Graph, seconds: Mapping[str, float] | None = None) -> Picture:
    """Return the picture of a whole graph.

    Parameters
    ----------
    graph : Graph
        Built or not; another thread may be adding to it.
    seconds : mapping of str to float, optional
        How long a run of the node with a label took.
    """
    stages = graph._snapshot()
    schedule, backend = graph.schedule, graph.backend
    reader = _Reader(backend, seconds or {})
    rows = tuple(
        reader.row(stage, number, schedule[number] if number < len(schedule) else "")
        for number, stage in enumerate(stages)
    )
    nodes = [placed for stage in stages for placed in stage.nodes]
    edges = reduced_edges(nodes, [stage.indices for stage in stages])
    return Picture(header=tuple(_header(stages, backend)), rows=rows, links=links_of(edges))


def links_of(edges: Iterable[Edge], inside: Key = ()) -> tuple[Link, ...]:
    """Return one link per pair of nodes, with every hazard between them."""
    pairs: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for edge in edges:
        pairs.setdefault((edge.src, edge.dst), []).append((edge.kind, edge.plane))
    return tuple(
        Link(src=(*inside, src), dst=(*inside, dst), hazards=tuple(hazards)) for (src, dst), hazards in pairs.items()
    )


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    ending = "" if count == 1 else "es" if noun.endswith("x") else "s"
    return f"{count} {noun}{ending}"


class _Reader:
    def __init__(self, backend: str | None, seconds: Mapping[str, float]) -> None:
        self.backend = backend
        self.seconds = seconds

    def row(self, stage: Stage, number: int, schedule: str) -> Row:
        branches = tuple(
            Branch(boxes=tuple(self.box(placed, (placed.index,), placed.label) for placed in branch), title=title)
            for branch, title in zip(stage.branches, stage.titles, strict=True)
        )
        return Row(branches=branches, stages=(number, number), schedule=schedule)

    def box(self, placed: Placed[Any], key: Key, label: str) -> Box:
        """Return the box of a node; one without a name in a body of its own takes the name of what holds it."""
        frames = []
        passed = not _is_default(placed, label) and _is_unnamed(placed)
        for number, body in enumerate(placed.bodies):
            plain = passed or _is_default(placed, label) or len(placed.bodies) > 1
            title = body.title if plain else f"{label}: {body.title}"
            frames.append(self.frame(body, (*key, number), title, label if passed else None))
        return Box(
            key=key,
            label=label,
            kind=placed.kind.name,
            tag=self.tag(placed),
            opaque=isinstance(placed.node.payload, Opaque),
            planes=tuple(dict.fromkeys((plane.access.name, plane.access.mode) for plane in placed.planes)),
            frames=tuple(frames),
            members=(label,),
            seconds=self.seconds.get(label) if len(key) == 1 else None,
        )

    def frame(self, body: Blueprint, key: Key, title: str, label: str | None) -> Frame:
        boxes = [self.box(inner, (*key, inner.index), label or inner.label) for inner in body.nodes]
        edges = reduced_edges(body.nodes, body.stages) if len(boxes) > 1 else ()
        rows = tuple(Row(branches=(Branch(boxes=(box,)),)) for box in boxes)
        return Frame(title=title, rows=rows, links=links_of(edges, key))

    def tag(self, placed: Placed[Any]) -> str:
        payload = placed.node.payload
        if isinstance(payload, Opaque) and payload.stream is not None:
            return "stream: cpu runs eagerly" if self.backend == "cpu" else "stream"
        if isinstance(payload, Opaque) and payload.eager:
            return "host"
        return "child" if isinstance(payload, Child) else ""


def _is_default(placed: Placed[Any], label: str) -> bool:
    """Whether a label is only the node's kind, perhaps with a suffix."""
    kind = placed.node.kind
    return placed.node.name is None and (label == kind or label.removeprefix(f"{kind}_").isdigit())


def _is_unnamed(placed: Placed[Any]) -> bool:
    """Whether a node holds a single one that has no name of its own, however deep."""
    while placed.bodies:
        if len(placed.bodies) > 1 or len(placed.bodies[0].nodes) > 1:
            return False
        (placed,) = placed.bodies[0].nodes
        if placed.node.name is not None:
            return False
    return True


def _header(stages: Sequence[Stage], backend: str | None) -> Iterable[str]:
    yield counted(sum(len(stage.nodes) for stage in stages), "node")
    groups = sum(stage.is_group for stage in stages)
    if groups:
        yield counted(groups, "group")
    yield f"backend: {backend}" if backend is not None else "not built"
