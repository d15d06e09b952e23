"""The size of a box, what is written in it and under it, and where its lines start."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

from eagle.draw.layout.geometry import Layout, PlacedBox, Rect
from eagle.draw.layout.options import Options
from eagle.draw.layout.pieces import Name, Piece, Wire
from eagle.draw.names import width
from eagle.draw.picture import Box, Frame, Link, boxes_of

__all__ = ["Port", "add_ports", "box_piece", "frame_lines", "odd", "told"]

Port: TypeAlias = "tuple[Wire | None, tuple[str, ...]]"
"""A line that starts at a box, or none, and the planes written there."""
_INNER = 7
_TOLD = 4
_TOLD_ROOM = 32
_TAGGED = 24


def box_piece(box: Box, ports: Sequence[Port], after: Sequence[str], options: Options, least: int = 0) -> Piece:
    """Return the piece of a box without frames, at least `least` columns wide."""
    lines = _lines(box, after, options)
    piece = Piece(width=odd(max(least, _INNER + 2, *(width(line) + 4 for line in lines))), height=len(lines) + 2)
    add_ports(piece, ports, options)

    def draw(x: int, y: int, layout: Layout) -> None:
        layout.boxes.append(PlacedBox(box, Rect(x, y, piece.width, piece.height), lines))

    piece.draw = draw
    return piece


def add_ports(piece: Piece, ports: Sequence[Port], options: Options) -> None:
    """Give a piece its names and the columns its lines start in, side by side, and widen it if it must be."""
    lettering = options.lettering
    full = [", ".join(map(lettering.spell, planes)) for _, planes in ports]
    texts = [lettering.cut(text, options.name_room) for text in full]
    starts = list(accumulate((width(text) + 2 for text in texts), initial=0))[: len(texts)]
    if starts:
        piece.width = max(piece.width, odd(starts[-1] + 3))
    piece.middle = piece.width // 2
    first = (piece.width - (starts[-1] if starts else 0)) // 2
    for (wire, _), start, text, whole in zip(ports, starts, texts, full, strict=True):
        dx = first + start
        if wire is not None:
            piece.outs[wire] = dx
        elif len(ports) == 1:
            dx = max((piece.width - width(text)) // 2, 1)
        if text:
            piece.names.append(Name(dx, text, whole))


def frame_lines(after: Sequence[str], options: Options) -> tuple[str, ...]:
    """Return what a box waits for, in words, in a few lines."""
    lettering, room = options.lettering, max(min(_TOLD_ROOM, options.max_width - 4), 8)
    shown = list(after) if len(after) <= _TOLD else [*after[: _TOLD - 1], f"and {len(after) - _TOLD + 1} more"]
    return tuple(lettering.cut(lettering.spell(line), room) for line in shown)


def odd(columns: int) -> int:
    """Return the number, or the next, that has a middle."""
    return columns | 1


def _lines(box: Box, after: Sequence[str], options: Options) -> tuple[str, ...]:
    lettering, room = options.lettering, options.label_room
    count = f" {lettering.times}{box.count}" if box.count > 1 else ""
    label = lettering.cut(lettering.spell(box.label), max(room - width(count), 2)) + count
    tag = f"[{lettering.spell(box.tag)}]" if box.tag else ""
    lines = [label]
    if tag and width(label) + 1 + width(tag) <= min(max(room, _TAGGED), options.max_width - 4):
        lines = [f"{label} {tag}"]
    elif tag:
        lines.append(lettering.cut(tag, room))
    lines.extend(
        lettering.cut(_hidden(frame, options), max(min(_TOLD_ROOM, options.max_width - 4), 8)) for frame in box.frames
    )
    return (*lines, *frame_lines(after, options))


def _hidden(frame: Frame, options: Options) -> str:
    """Say in one line what a frame that is not drawn holds."""
    depth = _depth(frame)
    inside = f"{depth} deep" if depth > 1 else f"{len(boxes_of(frame.rows))} inside"
    return f"[{inside}: {options.lettering.spell(frame.title)}]"


def _depth(frame: Frame) -> int:
    return 1 + max((_depth(inner) for box in boxes_of(frame.rows) for inner in box.frames), default=0)


def told(link: Link, label: str) -> str:
    """Return a link in words."""
    return f"after {label}: {', '.join(link.planes)}"
