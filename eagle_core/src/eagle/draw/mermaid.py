"""A graph as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator

from eagle.draw.legend import meaning
from eagle.draw.names import TIMES, UNICODE
from eagle.draw.picture import Box, Frame, Key, Link, Picture, Row

__all__ = ["mermaid"]

_PLAIN = frozenset(" _.,:+-=/()[]…≤" + TIMES)


def mermaid(picture: Picture) -> str:
    """Return `picture` as the text of a Mermaid flowchart."""
    return "\n".join(["flowchart TD", *_Writer().lines(picture)]) + "\n"


def _quoted(text: str) -> str:
    """Return a text that Mermaid shows as it is: what might mean something to it, or to HTML, by its number."""
    spelled = UNICODE.spell(text) or " "
    return '"' + "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in spelled) + '"'


class _Writer:
    def __init__(self) -> None:
        self.ends: dict[Key, str] = {}
        self.opaque: list[str] = []
        self.frames: list[str] = []

    def lines(self, picture: Picture) -> Iterator[str]:
        yield from self._rows(picture.rows, "  ")
        yield from self._links(picture.links, "  ")
        if self.opaque:
            yield "  classDef opaque stroke-dasharray: 5 3"
            yield f"  class {','.join(self.opaque)} opaque"
        for name in self.frames:
            yield f"  style {name} stroke-dasharray: 9 4"

    def _rows(self, rows: tuple[Row, ...], indent: str) -> Iterator[str]:
        for number, row in enumerate(rows):
            group = len(row.branches) > 1 and bool(row.stages)
            inner = indent + "  " if group else indent
            if group:
                yield f"{indent}subgraph g{number}_{row.boxes[0].key[0]}[{_quoted('group')}]"
            for branch in row.branches:
                if len(branch.boxes) > 1:
                    yield f"{inner}subgraph b{_name(branch.boxes[0].key)}[{_quoted(branch.title or 'branch')}]"
                for box in branch.boxes:
                    yield from self._box(box, inner)
                if len(branch.boxes) > 1:
                    yield f"{inner}end"
            if group:
                yield f"{indent}end"

    def _box(self, box: Box, indent: str) -> Iterator[str]:
        name = f"n{_name(box.key)}"
        self.ends[box.key] = name
        if box.frames:
            yield from self._framed(box, name, indent)
            return
        label = box.label + (f" {TIMES}{box.count}" if box.count > 1 else "") + (f" [{box.tag}]" if box.tag else "")
        yield f"{indent}{name}[{_quoted(label)}]"
        if box.opaque:
            self.opaque.append(name)

    def _framed(self, box: Box, name: str, indent: str) -> Iterator[str]:
        if len(box.frames) == 1:
            yield from self._frame(box.frames[0], name, indent)
            return
        yield f"{indent}subgraph {name}[{_quoted(box.label)}]"
        for number, frame in enumerate(box.frames):
            yield from self._frame(frame, f"{name}_f{number}", indent + "  ")
        yield f"{indent}end"

    def _frame(self, frame: Frame, name: str, indent: str) -> Iterator[str]:
        self.frames.append(name)
        yield f"{indent}subgraph {name}[{_quoted(frame.title)}]"
        yield from self._rows(frame.rows, indent + "  ")
        yield from self._links(frame.links, indent + "  ")
        yield f"{indent}end"

    def _links(self, links: tuple[Link, ...], indent: str) -> Iterator[str]:
        for link in links:
            text = ", ".join(link.planes)
            if link.kind != "RAW":
                text = f"{', '.join(dict.fromkeys(plane for _, plane in link.hazards))}: {meaning(link.kind)}"
            arrow = "-->" if link.kind == "RAW" else "-.->"
            yield f"{indent}{self.ends[link.src]} {arrow}|{_quoted(text)}| {self.ends[link.dst]}"


def _name(key: Key) -> str:
    return "_".join(str(number) if number >= 0 else "r" for number in key)
