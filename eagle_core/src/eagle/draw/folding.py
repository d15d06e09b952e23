"""Folding: what repeats is drawn once with a count, and what is still too much is left out and said so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eagle.draw.merging import merged, one_box, regrouped
from eagle.draw.picture import Branch, Key, Picture, Row, boxes_of
from eagle.draw.reading import counted
from eagle.draw.repeating import fold_periods, fold_siblings

__all__ = ["fold"]

_SMALL = 24
"""A picture with so many boxes is drawn as it is."""
_MOST = 60
"""No picture has more boxes than this, and a few."""
_WIDE = 40


def fold(picture: Picture) -> Picture:
    """Return `picture` with few enough boxes to be read.

    A small one is returned as it is. In a larger one siblings that are alike, and patterns that repeat, become one
    box or frame with a count. Then, only if it must be, chains become their ends, wide groups their first and last
    branches, and a graph its first and last stages.
    """
    total = len(boxes_of(picture.rows))
    if total <= _SMALL:
        return picture
    folded = fold_periods(fold_siblings(picture))
    for left_out in (_fold_chains, _fold_wide_rows, _fold_middle):
        if len(boxes_of(folded.rows)) > _MOST:
            folded = left_out(folded)
    drawn = len(boxes_of(folded.rows))
    if drawn == total:
        return picture
    return folded.with_note(
        f"{total} nodes in {counted(drawn, 'box')}; around= and depth= show a part of the graph in full."
    )


def _fold_chains(picture: Picture) -> Picture:
    """Leave out the inside of every chain of four nodes or more."""
    before: dict[Key, set[Key]] = {}
    after: dict[Key, set[Key]] = {}
    for link in picture.links:
        before.setdefault(link.dst, set()).add(link.src)
        after.setdefault(link.src, set()).add(link.dst)

    def follows(one: Row, other: Row) -> bool:
        if len(one.boxes) != 1 or len(other.boxes) != 1:
            return False
        first, second = one.boxes[0].key, other.boxes[0].key
        return after.get(first) == {second} and before.get(second) == {first}

    rows: list[Row] = []
    home: dict[Key, Key] = {}
    start = 0
    while start < len(picture.rows):
        end = start
        while end + 1 < len(picture.rows) and follows(picture.rows[end], picture.rows[end + 1]):
            end += 1
        if end - start >= 3:
            inside = _left_out(picture.rows[start + 1 : end], home)
            rows.extend((picture.rows[start], inside, picture.rows[end]))
        else:
            rows.extend(picture.rows[start : end + 1])
        start = end + 1
    return regrouped(picture, rows, home)


def _fold_wide_rows(picture: Picture) -> Picture:
    """Leave out the middle of every stage with very many branches."""
    rows: list[Row] = []
    home: dict[Key, Key] = {}
    for row in picture.rows:
        if len(row.branches) <= _WIDE:
            rows.append(row)
            continue
        kept, rest = row.branches[: _WIDE // 4], row.branches[_WIDE // 4 : -1]
        inside = _left_out([replace(row, branches=rest)], home)
        rows.append(replace(row, branches=(*kept, *inside.branches, row.branches[-1])))
    return regrouped(picture, rows, home)


def _fold_middle(picture: Picture) -> Picture:
    """Leave out all but the first and the last stages."""
    first = _count_rows(picture.rows)
    last = _count_rows(picture.rows[::-1])
    inside = picture.rows[first : len(picture.rows) - last]
    if len(inside) < 2:
        return picture
    home: dict[Key, Key] = {}
    rows = [*picture.rows[:first], _left_out(inside, home), *picture.rows[len(picture.rows) - last :]]
    return regrouped(picture, rows, home)


def _count_rows(rows: Sequence[Row]) -> int:
    """Return how many rows make up a half of what may be drawn."""
    boxes = 0
    for number, row in enumerate(rows):
        boxes += len(row.boxes)
        if boxes > _MOST // 2:
            return number
    return len(rows)


def _left_out(rows: Sequence[Row], home: dict[Key, Key]) -> Row:
    """Return one row with one box for all of `rows`, and note where their boxes went."""
    boxes = boxes_of(rows)
    nodes = sum(len(box.members) for box in boxes)
    box = replace(one_box(boxes), label=f"… {nodes} nodes …", kind="left out", count=0, tag="", opaque=False)
    home.update((inner.key, box.key) for inner in boxes)
    return merged(rows, (Branch(boxes=(box,)),))
