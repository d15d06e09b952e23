"""Several boxes as one: what it is called, and what its links become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from eagle.draw.picture import Box, Branch, Key, Link, Picture, Row

__all__ = ["merged", "one_box", "regrouped", "stem"]

_SUFFIX = re.compile(r"_\d+$")
_DIGITS = re.compile(r"\d+")


def stem(name: str) -> str:
    """Return what names of one series share: ``scale`` of ``scale_3``, ``w#`` of ``w12``."""
    return _DIGITS.sub("#", _SUFFIX.sub("", name))


def one_box(boxes: Sequence[Box]) -> Box:
    """Return the box that stands for `boxes`."""
    first, last = boxes[0], boxes[-1]
    base = _SUFFIX.sub("", first.label)
    same = all(_SUFFIX.sub("", box.label) == base for box in (boxes[1], last)) if len(boxes) > 1 else True
    seconds = [box.seconds for box in boxes if box.seconds is not None]
    return replace(
        first,
        label=base if same else f"{first.label} … {last.label}",
        planes=_condensed_planes(box_plane for box in boxes for box_plane in box.planes),
        members=tuple(label for box in boxes for label in box.members),
        count=sum(max(box.count, 1) for box in boxes),
        seconds=sum(seconds) if len(seconds) == len(boxes) else None,
    )


def merged(rows: Sequence[Row], branches: tuple[Branch, ...]) -> Row:
    """Return one row for several stages, with these branches."""
    ways = dict.fromkeys(row.schedule for row in rows)
    stages = [number for row in rows for number in row.stages]
    return Row(
        branches=branches,
        stages=(min(stages), max(stages)) if stages else (),
        schedule=rows[0].schedule if len(ways) == 1 else "",
    )


def regrouped(picture: Picture, rows: Iterable[Row], home: Mapping[Key, Key]) -> Picture:
    """Return the picture with these rows, and every link led to where its boxes went.

    Parameters
    ----------
    picture : Picture
    rows : iterable of Row
    home : mapping of Key to Key
        The box that stands for another now.
    """
    pairs: dict[tuple[Key, Key], list[tuple[str, str]]] = {}
    for link in picture.links:
        src, dst = home.get(link.src, link.src), home.get(link.dst, link.dst)
        if src != dst:
            pairs.setdefault((src, dst), []).extend(link.hazards)
    links = tuple(Link(src=src, dst=dst, hazards=_condensed(hazards)) for (src, dst), hazards in pairs.items())
    return replace(picture, rows=tuple(rows), links=links)


def _condensed(hazards: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Write three planes or more of one series as its first and its last."""
    series: dict[tuple[str, str], list[str]] = {}
    for kind, plane in dict.fromkeys(hazards):
        series.setdefault((kind, stem(plane)), []).append(plane)
    return tuple((kind, name) for (kind, _), planes in series.items() for name in _first_to_last(planes))


def _condensed_planes(planes: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    flipped = _condensed((mode, name) for name, mode in planes)
    return tuple((name, mode) for mode, name in flipped)


def _first_to_last(planes: list[str]) -> list[str]:
    return planes if len(planes) < 3 else [f"{planes[0]} … {planes[-1]}"]
