"""The small picture of two nodes that would race."""

from __future__ import annotations

import sys

from eagle.draw.canvas import ASCII_PEN, DOWN, UNICODE_PEN, Canvas
from eagle.draw.layout import Point, Rect
from eagle.draw.names import UNICODE, width
from eagle.draw.text import lettering_of

__all__ = ["race_picture"]

_ROOM = 28
_GAP = 4


def race_picture(nodes: tuple[str, str], deeds: tuple[str, str]) -> str:
    """Return two boxes that meet at the memory they share.

    Parameters
    ----------
    nodes : tuple of str
        Their labels.
    deeds : tuple of str
        What each does to its plane: ``"writes x"``.
    """
    lettering = lettering_of(sys.stderr)
    labels = [lettering.cut(lettering.spell(node), _ROOM) for node in nodes]
    words = [lettering.cut(lettering.spell(deed), _ROOM) for deed in deeds]
    sizes = [max(width(label) + 4, 9) | 1 for label in labels]
    step = max(sizes[0], sizes[0] // 2 + 2 + width(words[0])) + _GAP
    pen = UNICODE_PEN if lettering.ellipsis == UNICODE.ellipsis else ASCII_PEN
    ports = [2 + sizes[0] // 2, 2 + step + sizes[1] // 2]
    meeting = sum(ports) // 2
    same = "the same memory"
    columns = max(ports[1] + 2 + width(words[1]), 2 + step + sizes[1], meeting + len(same)) + 1
    canvas = Canvas(columns, 7, pen)
    for port in ports:
        canvas.route((Point(port, 2), Point(port, 4), Point(meeting, 4), Point(meeting, 5)), 0, dotted=False)
    canvas.ink()
    for left, size, label, port, deed in zip((2, 2 + step), sizes, labels, ports, words, strict=True):
        canvas.box(Rect(left, 0, size, 3))
        canvas.text(Point(left + 1 + (size - 2 - width(label)) // 2, 1), label)
        canvas.port(Point(port, 2), DOWN)
        canvas.text(Point(port + 2, 3), deed)
    canvas.port(Point(meeting, 4), DOWN)
    canvas.text(Point(max(meeting - len(same) // 2, 0), 5), same)
    return "\n".join(canvas.lines()).rstrip()
