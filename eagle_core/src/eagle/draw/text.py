"""A graph as text: boxes and lines, as wide as the terminal."""

from __future__ import annotations

import shutil
import sys
from typing import IO, TYPE_CHECKING, Any

from eagle.draw.canvas import ASCII_PEN, DOWN, UNICODE_PEN, UP, Canvas, Pen
from eagle.draw.layout import Layout, Options, PlacedBox, PlacedFrame, Point, layout
from eagle.draw.legend import kinds_of, meaning
from eagle.draw.names import TIMES, UNICODE, Lettering, clusters, lettering_for, width
from eagle.draw.picture import Picture
from eagle.draw.view import view

if TYPE_CHECKING:
    from eagle.graph import Graph

__all__ = ["draw_text", "lettering_of", "show", "text"]

_LINES = "─│╌╎┄┆┌┐└┘├┤┬┴┼╭╮╰╯…·" + TIMES
_LEAST = 20
_WIDE = 80


def show(graph: Graph, file: IO[str] | None = None, width: int | None = None, **part: Any) -> None:
    """Print `graph` to `file`, in characters the file can hold, no wider than `width` or the terminal."""
    stream = sys.stdout if file is None else file
    print(draw_text(view(graph, **part), width or columns(), lettering_of(stream)), file=stream)


def text(graph: Graph) -> str:
    """Return `graph` as standard output can show it."""
    return draw_text(view(graph), columns(), lettering_of(sys.stdout))


def columns() -> int:
    """Return how wide the terminal is."""
    return shutil.get_terminal_size((_WIDE, 24)).columns


def lettering_of(stream: object) -> Lettering:
    """Return how to spell names for a stream, by its encoding."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        _LINES.encode(encoding)
    except (UnicodeError, LookupError):
        return lettering_for(encoding)
    return UNICODE if encoding.lower().startswith("utf") else Lettering(lettering_for(encoding).can_show)


def draw_text(picture: Picture, room: int, lettering: Lettering) -> str:
    """Return `picture` as text of at most `room` columns."""
    room = max(room, _LEAST)
    head = _wrapped([lettering.spell(part) for part in picture.header], room, lettering)
    if not picture.rows:
        return "\n".join(head)
    marks = _mark_style(picture, room, lettering)
    left = max((width(mark) for mark in marks.values()), default=0)
    left += 1 if left else 2
    laid = layout(picture, Options(max_width=room - left, lettering=lettering))
    lines = _drawn(laid, left, marks, lettering)
    notes = [lettering.spell(note) for note in (*_legend(laid, lettering), *picture.notes)]
    foot = [line for note in notes for line in _folded(note, room)]
    return "\n".join([*head, "", *lines, *([""] if foot else []), *foot])


def _legend(laid: Layout, lettering: Lettering) -> list[str]:
    """Return what is not plain: dotted lines, and kinds written behind a plane."""
    kinds = [f"{kind} {meaning(kind)}" for kind in kinds_of(laid) if kind != "RAW"]
    if not kinds:
        return []
    dotted = _pen(lettering).dotted[0] * 3
    return [f"{dotted} no data flows: {', '.join(kinds)}"]


def _pen(lettering: Lettering) -> Pen:
    return UNICODE_PEN if lettering.ellipsis == UNICODE.ellipsis else ASCII_PEN


def _drawn(laid: Layout, left: int, marks: dict[tuple[tuple[int, int], str], str], lettering: Lettering) -> list[str]:
    canvas = Canvas(left + laid.width + 1, laid.height + 1, _pen(lettering))

    def moved(point: Point) -> Point:
        return Point(point.x + left, point.y)

    for route in laid.routes:
        canvas.route(tuple(map(moved, route.points)), route.wire, dotted=route.link.kind != "RAW")
    canvas.ink()
    for frame in laid.frames:
        if frame.kind != "group":
            _frame(canvas, frame._replace(rect=frame.rect._replace(x=frame.rect.x + left)))
    for box in laid.boxes:
        _box(canvas, box._replace(rect=box.rect._replace(x=box.rect.x + left)))
    for route in laid.routes:
        canvas.port(moved(route.points[0]), DOWN)
        canvas.port(moved(route.points[-1]), UP)
    for frame in laid.frames:
        if frame.kind != "group" and frame.title:
            start = left + frame.rect.x + (frame.rect.width - width(frame.title) - 2) // 2
            canvas.text(Point(start, frame.rect.y), f" {frame.title} ")
    for name in laid.names:
        canvas.text(moved(name.at), name.text)
    for mark in laid.marks:
        canvas.text(Point(0, mark.y), marks[mark.stages, mark.schedule])
    lines = canvas.lines()
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _box(canvas: Canvas, placed: PlacedBox) -> None:
    rect = placed.rect
    canvas.box(rect, dashed=placed.box.opaque)
    for number, line in enumerate(placed.lines):
        inner = rect.width - 2
        canvas.text(Point(rect.x + 1, rect.y + 1 + number), " " * inner)
        canvas.text(Point(rect.x + 1 + (inner - width(line)) // 2, rect.y + 1 + number), line)


def _frame(canvas: Canvas, frame: PlacedFrame) -> None:
    rect = frame.rect
    canvas.box(rect, rounded=True)
    for number, line in enumerate(frame.lines):
        canvas.text(Point(rect.x + 2, rect.y + 1 + number), line)


def _mark_style(picture: Picture, room: int, lettering: Lettering) -> dict[tuple[tuple[int, int], str], str]:
    """Return what is written for every stage: as much of it as leaves room for the graph."""
    rows = [(row.stages, row.schedule) for row in picture.rows if row.stages]
    for form in ("  stage {stages} {schedule}", "  stage {stages}", "{stages}"):
        marks = {}
        for stages, schedule in rows:
            first, last = stages
            number = str(first) if first == last else f"{first}-{last}"
            marks[stages, schedule] = form.format(stages=number, schedule=lettering.spell(schedule)).rstrip()
        if 2 * max(map(width, marks.values()), default=0) <= room - _LEAST // 2:
            break
    return marks


def _wrapped(parts: list[str], room: int, lettering: Lettering) -> list[str]:
    """Return the header on one line, or on as many as it takes."""
    dot = f" {lettering.spell('·')} "
    lines = ["eagle.Graph  "]
    for number, part in enumerate(parts):
        joined = lines[-1] + (dot if number and lines[-1].strip() else "") + part
        if width(joined) <= room or not lines[-1].strip():
            lines[-1] = joined
        else:
            lines.append(f"  {part}")
    return [lettering.cut(line.rstrip(), room) for line in lines]


def _folded(note: str, room: int) -> list[str]:
    """Break a note between words; only a word longer than a line is broken inside."""
    lines = [" "]
    for word in note.split(" "):
        if width(lines[-1]) + 1 + width(word) > room and lines[-1].strip():
            lines.append(" ")
        lines[-1] += " " + word
    return [part for line in lines for part in _pieces(line, room)]


def _pieces(line: str, room: int) -> list[str]:
    pieces = [""]
    for cluster in clusters(line):
        if width(pieces[-1]) + width(cluster) > room:
            pieces.append("")
        pieces[-1] += cluster
    return pieces
