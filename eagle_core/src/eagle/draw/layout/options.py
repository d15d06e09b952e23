"""How much room a layout has, and how it makes do with less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from eagle.draw.names import UNICODE, Lettering

__all__ = ["Options"]

_STEPS = (
    # columns for a label, columns for planes, rows a line may pass
    (36, 28, None),
    (24, 16, None),
    (24, 16, 8),
    (24, 16, 3),
    (18, 12, 3),
    (18, 12, 1),
    (12, 8, 1),
    (12, 8, 0),
    (8, 8, 0),
)
_DEEPEST = 6
_SMALLEST = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the layout may use.

    Attributes
    ----------
    max_width : int
        Columns. Rows that are wider are wrapped.
    lettering : Lettering
    label_room, name_room : int
        Columns for a label, and for the planes of one line; more is cut.
    reach : int or None
        How many rows a line may go down; a link that goes further is told in words. None: any number.
    depth : int
        How many frames are drawn inside each other.
    tolerance : int
        How much of the last name of a row may be lost rather than have it widen the picture.
    """

    max_width: int = 160
    lettering: Lettering = UNICODE
    label_room: int = 36
    name_room: int = 28
    reach: int | None = None
    depth: int = _DEEPEST
    tolerance: int = 4

    def attempts(self) -> Iterator[Options]:
        """Yield what to try in turn, until the picture is no wider than allowed."""
        columns = self.max_width - 1 | 1  # boxes have a middle: their widths are odd
        depth = min(self.depth, max((columns - _SMALLEST) // 4, 0))
        for label_room, name_room, reach in _STEPS:
            room = min(label_room, max(columns - 4, 1))
            yield replace(self, max_width=columns, label_room=room, name_room=name_room, reach=reach, depth=depth)

    def inside(self) -> Options:
        """Return the options inside a frame."""
        return replace(self, max_width=self.max_width - 4, depth=self.depth - 1)
