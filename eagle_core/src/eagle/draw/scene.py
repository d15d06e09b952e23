"""A laid-out graph as shapes, lines and words in the plane, for every format that draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from eagle.draw.layout import Layout, Options, PlacedBox, PlacedFrame, Point, Route, layout
from eagle.draw.legend import kinds_of, meaning
from eagle.draw.names import Lettering, width
from eagle.draw.picture import Box, Picture, all_boxes

__all__ = ["Group", "Line", "Scene", "Shape", "Words", "scene"]

_WIDEST = 120
_SMALL = 0.9  # how wide small letters are, by the width of those of a label


class Shape(NamedTuple):
    """A rectangle.

    `role` is ``"group"``, ``"branch"``, ``"body"``, ``"node"``, ``"opaque"``, ``"repeated"``, or, behind words,
    ``"plate"``.
    """

    role: str
    x: float
    y: float
    width: float
    height: float


class Words(NamedTuple):
    """A text; `role` is ``"label"``, ``"note"``, ``"plane"``, ``"title"``, ``"stage"``, ``"legend"``, ``"header"``.

    `x` is its start, its middle or its end, as `anchor` says, and `y` its middle.
    """

    role: str
    x: float
    y: float
    text: str
    anchor: str = "middle"


class Line(NamedTuple):
    """A line along straight runs; `kind` is ``"RAW"``, ``"WAR"`` or ``"WAW"``.

    One that is not `shown` is only there to be pointed at: others of its wire are drawn where it runs.
    """

    kind: str
    points: tuple[tuple[float, float], ...]
    arrow: bool = True
    shown: bool = True


@dataclass(slots=True)
class Group:
    """What belongs together, and what is said when it is pointed at."""

    tooltip: str = ""
    shapes: list[Shape] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """A drawing, one character wide and one line high as its units; later groups lie on top."""

    width: float = 0
    height: float = 0
    groups: list[Group] = field(default_factory=list)


def scene(
    picture: Picture, lettering: Lettering, *, names: bool = True, schedule: bool = True, header: bool = True
) -> Scene:
    """Return the drawing of `picture`.

    Parameters
    ----------
    picture : Picture
    lettering : Lettering
    names : bool
        Whether planes are written at the lines.
    schedule : bool
        Whether stages and how they run are written on the left.
    header : bool
        Whether what the graph is, and what is left out, is written above and below.
    """
    laid = layout(picture, Options(max_width=_WIDEST, lettering=lettering, tolerance=0))
    marks = _marks(laid, lettering) if schedule else []
    left = max((width(words.text) + 3.0 for words in marks), default=1.0)
    top = 2.5 if header else 0.5
    drawing = Scene(width=left + laid.width + 2, height=top + laid.height + 0.5)
    ways = {key: f"{_stages(stages)} {way}".strip() for key, stages, way in _where(picture)}
    drawing.groups = [_frame(frame, "", lettering) for frame in laid.frames if frame.kind == "group"]
    for frame in laid.frames:
        if frame.kind != "group":
            drawing.groups.append(_frame(frame, ways.get(frame.box.key, "") if frame.box else "", lettering))
    drawing.groups += _routes(laid, picture, lettering)
    drawing.groups += [_title(frame) for frame in laid.frames if frame.title or frame.lines]
    drawing.groups += [_box(box, ways.get(box.box.key, ""), lettering) for box in laid.boxes]
    if names:
        drawing.groups += [
            Group(name.full, words=[Words("plane", name.at.x + 1.2, name.at.y + 0.5, name.text, "start")])
            for name in laid.names
        ]
    drawing.groups.append(Group(words=marks))
    _move(drawing, left, top)
    _add_legend(drawing, laid, picture, lettering)
    if header:
        _add_header(drawing, picture, lettering)
    return drawing


def _add_header(drawing: Scene, picture: Picture, lettering: Lettering) -> None:
    parts = " · ".join(lettering.cut(lettering.spell(part), _WIDEST // 2) for part in picture.header)
    _add_words(drawing, Words("header", 1, 1, f"eagle.Graph   {parts}", "start"))
    for note in picture.notes:
        _add_words(drawing, Words("legend", 1, drawing.height + 0.5, lettering.spell(note), "start"))
        drawing.height += 1.3


def _add_words(drawing: Scene, words: Words) -> None:
    drawing.groups.append(Group(words=[words]))
    drawing.width = max(drawing.width, words.x + width(words.text) + 1)


def _marks(laid: Layout, lettering: Lettering) -> list[Words]:
    return [
        Words(
            "stage", -1, mark.y + 1.5, f"stage {_stages(mark.stages)} {lettering.spell(mark.schedule)}".strip(), "end"
        )
        for mark in laid.marks
    ]


def _stages(stages: tuple[int, int]) -> str:
    first, last = stages
    return str(first) if first == last else f"{first}-{last}"


def _where(picture: Picture) -> list[tuple[tuple[int, ...], tuple[int, int], str]]:
    return [(box.key, row.stages, row.schedule) for row in picture.rows if row.stages for box in row.boxes]


def _frame(frame: PlacedFrame, where: str, lettering: Lettering) -> Group:
    x, y, columns, lines = frame.rect
    margin = 0.5 if frame.kind == "group" else 0
    shape = Shape(frame.kind, x + 0.5 - margin, y + 0.5 - margin, columns - 1 + 2 * margin, lines - 1 + 2 * margin)
    tooltip = "a group: its branches may run at the same time" if frame.kind == "group" else ""
    return Group(_tooltip(frame.box, where, lettering) if frame.box else tooltip, shapes=[shape])


def _title(frame: PlacedFrame) -> Group:
    """Return a frame's title on a plate of its own, so that no line runs through it."""
    x, y, columns, _ = frame.rect
    middle = x + columns / 2
    group = Group()
    if frame.title:
        wide = width(frame.title) * _SMALL + 1
        group.shapes.append(Shape("plate", middle - wide / 2, y, wide, 1))
        group.words.append(Words("title", middle, y + 0.5, frame.title))
    group.words += [Words("note", middle, y + 1.5 + number, line) for number, line in enumerate(frame.lines)]
    return group


def _box(placed: PlacedBox, where: str, lettering: Lettering) -> Group:
    box, (x, y, columns, lines), texts = placed
    role = "opaque" if box.opaque else "node" if box.count else "repeated"
    group = Group(_tooltip(box, where, lettering), shapes=[Shape(role, x + 0.5, y + 0.5, columns - 1, lines - 1)])
    for number, text in enumerate(texts):
        role = "note" if number else "label"
        group.words.append(Words(role, x + columns / 2, y + 1.5 + number, text))
    return group


def _tooltip(box: Box, where: str, lettering: Lettering) -> str:
    """Say what a node is, what it touches, where it runs, and how long it took."""
    lines = [box.label, f"kind: {box.kind}" + (f" [{box.tag}]" if box.tag else "")]
    if len(box.members) > 1:
        shown = ", ".join(box.members[:8])
        lines.append(f"{len(box.members)} nodes: {shown}" + (", …" if len(box.members) > 8 else ""))
    for mode, verb in (("r", "reads"), ("w", "writes"), ("rw", "updates")):
        planes = [name for name, how in box.planes if how == mode]
        if planes:
            lines.append(f"{verb}: {', '.join(planes)}")
    lines.extend(f"inside: {frame.title}" for frame in box.frames)
    if where:
        lines.append(f"stage {where}")
    if box.seconds is not None:
        lines.append(f"time: {box.seconds * 1e6:.6g} µs")
    return "\n".join(map(lettering.spell, lines))


def _routes(laid: Layout, picture: Picture, lettering: Lettering) -> list[Group]:
    """Return the routes, each with what it says; what those of one wire share is drawn once, or dots would fill up."""
    labels = {box.key: box.label for box in all_boxes(picture.rows)}
    drawn: set[tuple[int, tuple[Point, Point]]] = set()
    groups = []
    for route in laid.routes:
        link = route.link
        said = [f"{labels.get(link.src, '')} → {labels.get(link.dst, '')}"]
        said += [f"{kind} {plane}: {meaning(kind)}" for kind, plane in link.hazards]
        lines = [Line(link.kind, _centred(route.points), shown=False)]
        lines += [
            Line(link.kind, _centred(part), arrow=part[-1] == route.points[-1]) for part in _undrawn(route, drawn)
        ]
        groups.append(Group("\n".join(map(lettering.spell, said)), lines=lines))
    return groups


def _undrawn(route: Route, drawn: set[tuple[int, tuple[Point, Point]]]) -> list[list[Point]]:
    """Return the parts of a route that no other of its wire has drawn yet, and count them as drawn."""
    parts: list[list[Point]] = []
    cells = [route.points[0]]
    for start, end in pairwise(route.points):
        cells += _cells(start, end)[1:]
    for number, step in enumerate(pairwise(cells)):
        if (route.wire, step) in drawn:
            continue
        drawn.add((route.wire, step))
        if not parts or parts[-1][-1] != step[0]:
            parts.append(
                cells[max(number - 1, 0) : number + 1]
            )  # from a cell before, so that it joins round the corner
        parts[-1].append(step[1])
    return [_corners(part) for part in parts]


def _cells(start: Point, end: Point) -> list[Point]:
    if start.y == end.y:
        step = 1 if end.x > start.x else -1
        return [Point(x, start.y) for x in range(start.x, end.x + step, step)]
    return [Point(start.x, y) for y in range(start.y, end.y + 1)]


def _corners(points: list[Point]) -> list[Point]:
    """Keep the ends of a part, and where it bends."""
    inner = zip(points, points[1:], points[2:], strict=False)
    bends = [b for a, b, c in inner if not (a.x == b.x == c.x or a.y == b.y == c.y)]
    return [points[0], *bends, points[-1]]


def _centred(points: Sequence[Point]) -> tuple[tuple[float, float], ...]:
    return tuple((point.x + 0.5, point.y + 0.5) for point in points)


def _move(drawing: Scene, left: float, top: float) -> None:
    for group in drawing.groups:
        group.shapes = [shape._replace(x=shape.x + left, y=shape.y + top) for shape in group.shapes]
        group.words = [words._replace(x=words.x + left, y=words.y + top) for words in group.words]
        group.lines = [line._replace(points=tuple((x + left, y + top) for x, y in line.points)) for line in group.lines]


def _add_legend(drawing: Scene, laid: Layout, picture: Picture, lettering: Lettering) -> None:
    """Write below what the kinds of lines and borders mean, those that are there."""
    kinds = kinds_of(laid) or (("RAW",) if laid.boxes else ())
    x, y = 1.0, drawing.height + 0.7
    entries: list[tuple[Group, str]] = [
        (Group(lines=[Line(kind, ((0, 0), (4, 0)), arrow=False)]), f"{kind}: {meaning(kind)}") for kind in kinds
    ]
    boxes = list(all_boxes(picture.rows))
    if any(box.opaque for box in boxes):
        entries.append((Group(shapes=[Shape("opaque", 0, -0.4, 4, 0.8)]), "opaque node"))
    if any(box.frames and box.kind != "repeated" for box in boxes):
        entries.append((Group(shapes=[Shape("body", 0, -0.4, 4, 0.8)]), "conditional or body"))
    limit = max(drawing.width, 60.0)
    for sample, text in entries:
        needed = 5 + width(text)
        if x > 1 and x + needed > limit:
            x, y = 1.0, y + 1.4
        sample.words = [Words("legend", 5, 0, text, "start")]
        part = Scene(groups=[sample])
        _move(part, x, y)
        drawing.groups.append(sample)
        x += needed + 3
        drawing.width = max(drawing.width, x - 2)
    drawing.height = y + 1 if entries else drawing.height
