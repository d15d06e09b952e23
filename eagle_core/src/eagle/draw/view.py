"""What of a graph is shown: all of it, or the part around some nodes; what repeats folded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from eagle.draw.folding import fold
from eagle.draw.picture import Key, Picture, boxes_of
from eagle.draw.reading import counted, read
from eagle.errors import GraphError, GraphTypeError
from eagle.plugin.suggestions import did_you_mean

if TYPE_CHECKING:
    from eagle.graph import Graph

__all__ = ["view"]


def view(
    graph: Graph,
    *,
    around: str | Iterable[str] | None = None,
    depth: int = 2,
    seconds: Mapping[str, float] | None = None,
) -> Picture:
    """Return what to draw of `graph`.

    Parameters
    ----------
    graph : Graph
    around : str or iterable of str, optional
        Labels of nodes; only the part around them is shown. All of the graph without.
    depth : int
        How many links away from them, up or down.
    seconds : mapping of str to float, optional
        How long a run of the node with a label took.

    Raises
    ------
    GraphError
        There is no such node, or `depth` is negative.
    """
    picture = read(graph, seconds)
    if around is not None:
        labels = (around,) if isinstance(around, str) else tuple(around)
        picture = _part(picture, labels, _checked(depth))
    return fold(picture)


def _checked(depth: object) -> int:
    if not isinstance(depth, int):
        raise GraphTypeError(f"depth is a number of links, not {depth!r}")
    if depth < 0:
        raise GraphError(f"depth is {depth}", fix="Give 0 or more links.")
    return depth


def _part(picture: Picture, labels: tuple[str, ...], depth: int) -> Picture:
    keys = {box.label: box.key for box in boxes_of(picture.rows)}
    for label in labels:
        if label not in keys:
            fix = did_you_mean(str(label), keys) or "g.node_labels() lists the nodes."
            raise GraphError(f"the graph has no node {label!r}", fix=fix)
    near = _near(picture, {keys[label] for label in labels}, depth)
    rows = []
    for row in picture.rows:
        branches = tuple(
            replace(branch, boxes=tuple(box for box in branch.boxes if box.key in near)) for branch in row.branches
        )
        if any(branch.boxes for branch in branches):
            rows.append(replace(row, branches=tuple(branch for branch in branches if branch.boxes)))
    links = tuple(link for link in picture.links if link.src in near and link.dst in near)
    shown = f"shown: {len(near)} around {', '.join(labels)}, {counted(depth, 'link')} deep"
    return replace(picture, header=(*picture.header, shown), rows=tuple(rows), links=links)


def _near(picture: Picture, start: set[Key], depth: int) -> set[Key]:
    neighbours: dict[Key, list[Key]] = {}
    for link in picture.links:
        neighbours.setdefault(link.src, []).append(link.dst)
        neighbours.setdefault(link.dst, []).append(link.src)
    near, rim = set(start), set(start)
    for _ in range(depth):
        rim = {other for key in rim for other in neighbours.get(key, ())} - near
        near |= rim
    return near
