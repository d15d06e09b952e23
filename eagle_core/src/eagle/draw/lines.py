"""A graph as text, one line per node."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

from eagle.graph.payloads import Opaque
from eagle.plugin.blueprint import Placed

if TYPE_CHECKING:
    from eagle.graph import Graph

__all__ = ["show", "text"]


def show(graph: Graph, file: IO[str] | None = None) -> None:
    """Print `graph` to `file`; characters its encoding lacks are escaped."""
    stream = sys.stdout if file is None else file
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text(graph).encode(encoding, "backslashreplace").decode(encoding), file=stream)


def text(graph: Graph) -> str:
    """Return the graph's header and one line per node.

    A line holds the stage, how it runs, the node's tag, its label, its planes, and the nodes it waits for with the
    planes that make it wait, of the fewest pairs.
    """
    stages = graph._snapshot()
    schedule = graph.schedule
    labels = [placed.label for stage in stages for placed in stage.nodes]
    groups = sum(stage.is_group for stage in stages)
    header = f"eagle.Graph  {_counted(len(labels), 'node')}, {_counted(groups, 'group')}, backend: {graph.backend}"
    waits: dict[int, list[str]] = {}
    for edge in graph.edges(reduced=True):
        if edge.dst < len(labels):
            reason = f"{_plain(labels[edge.src])}: {_plain(edge.plane)} ({edge.kind}, {edge.meaning})"
            waits.setdefault(edge.dst, []).append(reason)
    rows = []
    for number, stage in enumerate(stages):
        word = schedule[number] if number < len(schedule) else ""
        for branch, title in zip(stage.branches, stage.titles, strict=True):
            for placed in branch:
                label = _plain(placed.label) if title is None else f"{_plain(title)}/{_plain(placed.label)}"
                row = [f"stage {number}", word, f"[{tag(placed, graph.backend)}]", label, _planes(placed)]
                rows.append([*row, "after " + "; ".join(waits[placed.index]) if placed.index in waits else ""])
    return "\n".join([header, "", *_aligned(rows)]) if rows else header


def tag(placed: Placed[Any], backend: str | None) -> str:
    """Return what a node is tagged with: its tier where it has one, else its kind."""
    payload = placed.node.payload
    if isinstance(payload, Opaque) and payload.stream is not None:
        return "stream: cpu runs eagerly" if backend == "cpu" else "stream"
    if isinstance(payload, Opaque) and payload.eager:
        return "host"
    titles = [_plain(body.title) for body in placed.bodies]
    return ", ".join([_plain(placed.kind.name), *titles])


def _planes(placed: Placed[Any]) -> str:
    modes = {"r": "reads", "w": "writes", "rw": "updates"}
    parts = []
    for mode, verb in modes.items():
        names = dict.fromkeys(_plain(p.access.name) for p in placed.planes if p.access.mode == mode)
        if names:
            parts.append(f"{verb} {', '.join(names)}")
    return "; ".join(parts)


def _aligned(rows: Iterable[list[str]]) -> Iterable[str]:
    rows = list(rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width]
        yield "  " + "  ".join(cells).rstrip()


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _plain(name: str) -> str:
    """Escape what would break the line."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in name)
