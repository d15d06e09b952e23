"""What a layout is: boxes, frames, names and routes on a grid of cells, one character wide and one line high."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from eagle.draw.picture import Box, Link

__all__ = ["Layout", "Mark", "PlacedBox", "PlacedFrame", "PlacedName", "Point", "Rect", "Route"]


class Point(NamedTuple):
    """A cell."""

    x: int
    y: int


class Rect(NamedTuple):
    """The cells of a box or a frame, its border among them."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """The last column."""
        return self.x + self.width - 1

    @property
    def bottom(self) -> int:
        """The last line."""
        return self.y + self.height - 1


class PlacedBox(NamedTuple):
    """A box, with what is written in it, spelled and cut to fit."""

    box: Box
    rect: Rect
    lines: tuple[str, ...]


class PlacedFrame(NamedTuple):
    """A line around what belongs together.

    ``kind`` is ``"body"`` for what a node holds, ``"branch"`` for a branch of several nodes, ``"group"`` for a stage
    that forks and joins. A group's frame may be crossed by routes that pass its stage by. ``lines`` are written inside,
    under the title; ``box`` is the node that holds a body.
    """

    title: str
    kind: str
    rect: Rect
    lines: tuple[str, ...] = ()
    box: Box | None = None


class PlacedName(NamedTuple):
    """Names of planes under the box that writes them; `text` is cut to fit, `full` is not."""

    text: str
    full: str
    at: Point


class Route(NamedTuple):
    """The way of one link, from the border of a box or frame down to the border of another, in straight runs.

    Routes of one `wire` share their runs where they can; those of two wires meet only where one crosses the other, or
    right above the box at which both end.
    """

    link: Link
    wire: int
    points: tuple[Point, ...]


class Mark(NamedTuple):
    """Where a row's stage is written."""

    stages: tuple[int, int]
    schedule: str
    y: int


@dataclass(slots=True)
class Layout:
    """A picture laid out.

    Attributes
    ----------
    width, height : int
    boxes, frames, names, routes, marks : lists
        Frames from the outermost inwards.
    after : list of Link
        Links told in words in the box that waits, because no line fits.
    """

    width: int = 0
    height: int = 0
    boxes: list[PlacedBox] = field(default_factory=list)
    frames: list[PlacedFrame] = field(default_factory=list)
    names: list[PlacedName] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    after: list[Link] = field(default_factory=list)
