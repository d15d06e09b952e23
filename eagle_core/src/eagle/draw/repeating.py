"""What repeats: siblings that are alike, and rows that come again and again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from eagle.draw.merging import merged, one_box, regrouped, stem
from eagle.draw.names import TIMES
from eagle.draw.picture import Box, Branch, Frame, Key, Link, Picture, Row, boxes_of

__all__ = ["fold_periods", "fold_siblings"]

_LEAST = 3
_LONGEST = 12


def fold_siblings(picture: Picture) -> Picture:
    """Draw three branches or more as one, when they hold alike nodes that wait for, and are awaited by, the same."""
    home: dict[Key, Key] = {}
    ends = _Ends(picture)
    rows = []
    for row in picture.rows:
        alike: dict[Hashable, list[Branch]] = {}
        for branch in row.branches:
            alike.setdefault(ends.of_branch(branch), []).append(branch)
        branches = []
        for these in alike.values():
            branches.extend(these if len(these) < _LEAST else [_one_branch(these, home)])
        rows.append(replace(row, branches=tuple(branches)))
    return regrouped(picture, rows, home)


def fold_periods(picture: Picture) -> Picture:
    """Draw rows that come again three times or more once: one row with counts, several in a frame with the count."""
    ends = _Ends(picture)
    numbers: dict[Hashable, int] = {}
    looks = [numbers.setdefault(ends.of_row(row), len(numbers)) for row in picture.rows]
    home: dict[Key, Key] = {}
    rows: list[Row] = []
    start = 0
    while start < len(picture.rows):
        period, times = _best_period(picture.rows, looks, ends, start)
        these = picture.rows[start : start + period * times]
        rows.append(_folded(these, period, times, picture.links, home) if times >= _LEAST else picture.rows[start])
        start += len(these) if times >= _LEAST else 1
    return regrouped(picture, rows, home)


class _Ends:
    """What every box is linked with."""

    def __init__(self, picture: Picture) -> None:
        self.incoming: dict[Key, list[tuple[Key, Hashable]]] = {}
        self.outgoing: dict[Key, list[tuple[Key, Hashable]]] = {}
        for link in picture.links:
            reasons = frozenset((kind, stem(plane)) for kind, plane in link.hazards)
            self.incoming.setdefault(link.dst, []).append((link.src, reasons))
            self.outgoing.setdefault(link.src, []).append((link.dst, reasons))
        self.place = {
            box.key: (number, position)
            for number, row in enumerate(picture.rows)
            for position, box in enumerate(row.boxes)
        }

    def of_branch(self, branch: Branch) -> Hashable:
        """Return what is equal for branches that may be drawn as one."""
        inside = {box.key: number for number, box in enumerate(branch.boxes)}
        return tuple(
            (
                _look(box),
                frozenset((inside.get(src, src), why) for src, why in self.incoming.get(box.key, ())),
                frozenset((inside.get(dst, dst), why) for dst, why in self.outgoing.get(box.key, ())),
            )
            for box in branch.boxes
        )

    def of_row(self, row: Row) -> Hashable:
        """Return what is equal for rows that look alike, whatever they are linked with."""
        return row.schedule, tuple(tuple(map(_look, branch.boxes)) for branch in row.branches)

    def into(self, row: Row, start: int) -> Hashable:
        """Return what a row waits for: as steps back from it, and by name what lies before row `start`."""
        return tuple(
            frozenset(
                (src if self.place[src][0] < start else self._back(src, box.key), why)
                for src, why in self.incoming.get(box.key, ())
            )
            for box in row.boxes
        )

    def out_of(self, row: Row) -> Hashable:
        """Return what waits for a row."""
        return tuple(frozenset(self.outgoing.get(box.key, ())) for box in row.boxes)

    def is_linked(self, row: Row, start: int, end: int) -> bool:
        """Whether a row waits for any from row `start` on, or is awaited by any before row `end`."""
        return any(
            any(self.place[src][0] >= start for src, _ in self.incoming.get(box.key, ()))
            or any(self.place[dst][0] < end for dst, _ in self.outgoing.get(box.key, ()))
            for box in row.boxes
        )

    def _back(self, src: Key, dst: Key) -> tuple[str, int, int]:
        (above, position), (below, _) = self.place[src], self.place[dst]
        return "back", below - above, position


def _best_period(rows: Sequence[Row], looks: Sequence[int], ends: _Ends, start: int) -> tuple[int, int]:
    """Return the number of rows, from `start` on, that repeat most, and how often."""
    best = (1, 1)
    for period in range(1, _LONGEST + 1):
        times = 1
        while _comes_again(rows, looks, ends, start, period, times):
            times += 1
        if times >= _LEAST and period * times > best[0] * best[1]:
            best = (period, times)
    return best


def _comes_again(rows: Sequence[Row], looks: Sequence[int], ends: _Ends, start: int, period: int, times: int) -> bool:
    """Whether the rows after `times` repetitions are one more. The first may be entered in another way."""
    here = start + period * times
    if here + period > len(rows) or looks[here : here + period] != looks[here - period : here]:
        return False
    steps = range(here, here + period)
    if times > 1 and any(ends.into(rows[step], start) != ends.into(rows[step - period], start) for step in steps):
        return False
    return all(ends.is_linked(rows[step], start, here + period) for step in steps) or all(
        ends.out_of(rows[step]) == ends.out_of(rows[step - period]) for step in steps
    )


def _folded(rows: Sequence[Row], period: int, times: int, links: Sequence[Link], home: dict[Key, Key]) -> Row:
    once = [_one_row(rows[step::period], home) for step in range(period)]
    if period == 1:
        return once[0]
    inside = {box.key for row in once for box in row.boxes}
    frame = Frame(
        title=f"{TIMES}{times}",
        rows=tuple(_uncounted(row) for row in once),
        links=tuple(link for link in links if link.src in inside and link.dst in inside),
    )
    boxes = boxes_of(rows)
    key = (*boxes[0].key, -1)
    home.update((box.key, key) for box in boxes)
    members = tuple(label for box in boxes for label in box.members)
    box = Box(key=key, label=f"{boxes[0].label} …", kind="repeated", frames=(frame,), members=members, count=times)
    return merged(rows, (Branch(boxes=(box,)),))


def _uncounted(row: Row) -> Row:
    branches = [replace(branch, boxes=tuple(replace(box, count=1) for box in branch.boxes)) for branch in row.branches]
    return Row(branches=tuple(branches))


def _one_row(rows: Sequence[Row], home: dict[Key, Key]) -> Row:
    branches = zip(*(row.branches for row in rows), strict=True)
    return merged(rows, tuple(_one_branch(these, home) for these in branches))


def _one_branch(branches: Sequence[Branch], home: dict[Key, Key]) -> Branch:
    boxes = []
    for these in zip(*(branch.boxes for branch in branches), strict=True):
        box = one_box(these)
        home.update((other.key, box.key) for other in these)
        boxes.append(box)
    return Branch(boxes=tuple(boxes), title=branches[0].title)


def _look(box: Box) -> Hashable:
    frames = tuple((frame.title, tuple(map(_look, boxes_of(frame.rows)))) for frame in box.frames)
    return stem(box.label), box.kind, box.tag, box.opaque, frames
