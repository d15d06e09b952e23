"""What a picture shows: boxes in rows, frames around boxes, links between them. It knows neither sizes nor formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

__all__ = ["Box", "Branch", "Frame", "Key", "Link", "Picture", "Row", "all_boxes", "boxes_of"]

Key: TypeAlias = "tuple[int, ...]"
"""The identity of a box: a node's index, and behind it the way into its bodies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One box that waits for an earlier one.

    Attributes
    ----------
    src, dst : Key
    hazards : tuple of (str, str)
        (kind, plane) of every reason, the plane as the earlier node calls it.
    """

    src: Key
    dst: Key
    hazards: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> str:
        """The strongest reason: data that flows, then what must wait to overwrite, then the same output."""
        return min((kind for kind, _ in self.hazards), key=("RAW", "WAR", "WAW").index)

    @property
    def planes(self) -> tuple[str, ...]:
        """What is written on the line: planes whose data flows, and the others with what they wait for."""
        kinds: dict[str, list[str]] = {}
        for kind, plane in self.hazards:
            kinds.setdefault(plane, []).append(kind)
        return tuple(plane if "RAW" in these else f"{plane} ({', '.join(these)})" for plane, these in kinds.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node, or several that are drawn as one.

    Attributes
    ----------
    key : Key
    label, kind, tag : str
        The tag is its tier, where it has one: ``stream``, ``host``, ``child``.
    opaque : bool
        Whether eagle cannot see into it: its border is dashed.
    planes : tuple of (str, str)
        (name, mode) of every plane, mode ``"r"``, ``"w"`` or ``"rw"``.
    frames : tuple of Frame
        Its bodies; a box with bodies is drawn as frames around what they hold.
    members : tuple of str
        The labels of the nodes it stands for.
    count : int
        How often it is repeated; 0 for a box that stands for nodes left out.
    seconds : float or None
        How long a run of it took, if that was measured.
    """

    key: Key
    label: str
    kind: str
    tag: str = ""
    opaque: bool = False
    planes: tuple[tuple[str, str], ...] = ()
    frames: tuple[Frame, ...] = ()
    members: tuple[str, ...] = ()
    count: int = 1
    seconds: float | None = None

    @property
    def written(self) -> tuple[str, ...]:
        """The names of the planes it writes."""
        return tuple(dict.fromkeys(name for name, mode in self.planes if mode != "r"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Boxes that run in order, beside other branches of their row."""

    boxes: tuple[Box, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stage, or several that are drawn as one.

    Attributes
    ----------
    branches : tuple of Branch
    stages : tuple of (int, int)
        The first and the last stage; empty inside a body.
    schedule : str
        How it runs; empty before the build.
    """

    branches: tuple[Branch, ...]
    stages: tuple[int, int] | tuple[()] = ()
    schedule: str = ""

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Its boxes, branch by branch."""
        return tuple(box for branch in self.branches for box in branch.boxes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Boxes with a line around them: the body of a node, or a pattern that is repeated."""

    title: str
    rows: tuple[Row, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A graph, or a part of one, as it is to be drawn.

    Attributes
    ----------
    header : tuple of str
        What the graph is, part by part.
    rows : tuple of Row
    links : tuple of Link
        Of the fewest pairs that give the same order.
    notes : tuple of str
        What is not shown, and how to see it.
    """

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    links: tuple[Link, ...]
    notes: tuple[str, ...] = ()

    def with_note(self, note: str) -> Picture:
        """Return the picture with one more note."""
        return replace(self, notes=(*self.notes, note))


def boxes_of(rows: Sequence[Row]) -> tuple[Box, ...]:
    """Return the boxes of `rows`, without those inside bodies."""
    return tuple(box for row in rows for box in row.boxes)


def all_boxes(rows: Sequence[Row]) -> Iterator[Box]:
    """Yield every box, those inside bodies after the one that holds them."""
    for box in boxes_of(rows):
        yield box
        for frame in box.frames:
            yield from all_boxes(frame.rows)
