"""A sheet of characters on which lines meet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_

from eagle.draw.layout import Point, Rect
from eagle.draw.names import clusters, width

__all__ = ["ASCII_PEN", "UNICODE_PEN", "Canvas", "Pen"]

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class Pen:
    """The characters lines are drawn with.

    Attributes
    ----------
    joints : str
        The character for every sum of ``UP``, ``DOWN``, ``LEFT`` and ``RIGHT``.
    solid, dashed, dotted : str
        Across and down: of borders and lines, of the borders of opaque nodes, of lines along which no data flows.
    corners : str
        Of frames: upper left, upper right, lower left, lower right.
    """

    joints: str
    solid: str
    dashed: str
    dotted: str
    corners: str


UNICODE_PEN = Pen(" │││─┘┐┤─└┌├─┴┬┼", "─│", "╌╎", "┄┆", "╭╮╰╯")
ASCII_PEN = Pen(" |||-+++-+++-+++", "-|", ".:", "~!", "..''")


class Canvas:
    """A sheet of `height` lines of `columns` characters."""

    def __init__(self, columns: int, height: int, pen: Pen) -> None:
        self.pen = pen
        self._cells = [[" "] * columns for _ in range(height)]
        self._arms: dict[Point, dict[int, int]] = {}
        self._dotted: set[tuple[Point, int]] = set()

    def route(self, points: tuple[Point, ...], wire: int, *, dotted: bool) -> None:
        """Take in a way along straight runs; it is drawn by `ink`."""
        for start, end in pairwise(points):
            across = start.y == end.y
            step = 1 if (end.x, end.y) > (start.x, start.y) else -1
            ahead, behind = ((RIGHT, LEFT) if step > 0 else (LEFT, RIGHT)) if across else (DOWN, UP)
            cells = (
                [Point(x, start.y) for x in range(start.x, end.x + step, step)]
                if across
                else [Point(start.x, y) for y in range(start.y, end.y + 1)]
            )
            for one, other in pairwise(cells):
                self._arm(one, wire, ahead, dotted)
                self._arm(other, wire, behind, dotted)

    def ink(self) -> None:
        """Draw all routes: those of one wire join; where two wires cross, the one that goes down is on top."""
        for point, wires in self._arms.items():
            shown = dict(wires)
            if set(shown.values()) == {UP | DOWN, LEFT | RIGHT}:
                shown = {wire: arms for wire, arms in wires.items() if arms == UP | DOWN}
            dotted = all((point, wire) in self._dotted for wire in shown)
            self.put(point, self._line(reduce(or_, shown.values()), dotted))

    def _line(self, arms: int, dotted: bool) -> str:
        if dotted and arms in (LEFT | RIGHT, UP | DOWN):
            return self.pen.dotted[arms != LEFT | RIGHT]
        return self.pen.joints[arms]

    def _arm(self, point: Point, wire: int, arm: int, dotted: bool) -> None:
        wires = self._arms.setdefault(point, {})
        wires[wire] = wires.get(wire, 0) | arm
        if dotted:
            self._dotted.add((point, wire))

    def box(self, rect: Rect, *, dashed: bool = False, rounded: bool = False) -> None:
        """Draw a border."""
        pen = self.pen
        across, down = tuple(pen.dashed if dashed else pen.solid)
        corners = pen.corners if rounded else [pen.joints[arms] for arms in (10, 6, 9, 5)]
        top = corners[0] + across * (rect.width - 2) + corners[1]
        bottom = corners[2] + across * (rect.width - 2) + corners[3]
        self.text(Point(rect.x, rect.y), top)
        self.text(Point(rect.x, rect.bottom), bottom)
        for y in range(rect.y + 1, rect.bottom):
            self.put(Point(rect.x, y), down)
            self.put(Point(rect.right, y), down)

    def port(self, point: Point, arm: int) -> None:
        """Join a line to a border from above or below."""
        self.put(point, self.pen.joints[LEFT | RIGHT | arm])

    def text(self, at: Point, text: str) -> None:
        """Write `text`; a wide character takes two cells."""
        x = at.x
        for cluster in clusters(text):
            self.put(Point(x, at.y), cluster)
            for skipped in range(1, width(cluster)):
                self.put(Point(x + skipped, at.y), "")
            x += width(cluster)

    def put(self, point: Point, char: str) -> None:
        """Write one character."""
        self._cells[point.y][point.x] = char

    def lines(self) -> list[str]:
        """Return the sheet, line by line, without blanks at their ends."""
        return ["".join(row).rstrip() for row in self._cells]
