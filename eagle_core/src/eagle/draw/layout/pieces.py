"""What the layered layout moves about: pieces in layers, and the wires that join them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from eagle.draw.layout.geometry import Layout, Point
from eagle.draw.names import width

__all__ = ["Layers", "Name", "Piece", "Wire"]

Layers: TypeAlias = "list[list[Piece]]"


class Name(NamedTuple):
    """Names of planes, a number of columns from the left of the piece they are written under."""

    dx: int
    text: str
    full: str

    @property
    def columns(self) -> int:
        """How wide the text is."""
        return width(self.text)


@dataclass(eq=False, slots=True)
class Wire:
    """Links drawn as one line that forks and joins: every source is joined with every target.

    Attributes
    ----------
    number : int
    sources, targets : list of Piece
        All sources stand in layers above all targets.
    paths : dict
        The cells a line bends at on its way, by (source, target).
    """

    number: int
    sources: list[Piece] = field(default_factory=list)
    targets: list[Piece] = field(default_factory=list)
    paths: dict[tuple[Piece, Piece], list[Point]] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Piece:
    """Something with a size, or a place where a wire passes a layer.

    Attributes
    ----------
    width, height : int
    middle : int
        The column, from the left, at which wires end, unless `ins` says otherwise.
    entry : int
        The line, from the top, at which wires end.
    ins, outs : dict
        Columns, from the left, at which a wire ends and starts.
    names : list of Name
    draw : callable or None
        ``draw(x, y, layout)`` adds it to a layout. None for a place where a wire passes.
    movable : bool
        Whether a wire may end next to the middle.
    layer, x, y : int
        Where it is; set by the layout.
    """

    width: int = 1
    height: int = 0
    middle: int = 0
    entry: int = 0
    ins: dict[Wire, int] = field(default_factory=dict)
    outs: dict[Wire, int] = field(default_factory=dict)
    names: list[Name] = field(default_factory=list)
    draw: Callable[[int, int, Layout], None] | None = None
    movable: bool = True
    layer: int = 0
    x: float = 0
    y: int = 0

    def start(self, wire: Wire) -> int:
        """Return the column at which `wire` starts."""
        return int(self.x) + self.outs.get(wire, self.middle)

    def end(self, wire: Wire) -> int:
        """Return the column at which `wire` ends."""
        return int(self.x) + self.ins.get(wire, self.middle)
