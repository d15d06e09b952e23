"""A graph in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from eagle.draw.legend import meaning
from eagle.draw.names import TIMES, UNICODE
from eagle.draw.picture import Box, Branch, Frame, Key, Link, Picture, Row, boxes_of

__all__ = ["dot"]


def dot(picture: Picture) -> str:
    """Return `picture` as the text of a DOT file."""
    return "\n".join(_Writer().lines(picture)) + "\n"


def _quoted(text: str) -> str:
    """Return a text as a string of DOT, in which backslashes, quotes and the entities of HTML mean themselves."""
    spelled = UNICODE.spell(text)
    return '"' + spelled.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Writer:
    def __init__(self) -> None:
        self.clusters = 0
        self.ends: dict[Key, tuple[str, str | None]] = {}  # a node to draw to, and the cluster to stop at

    def lines(self, picture: Picture) -> Iterator[str]:
        yield "digraph eagle {"
        yield '  graph [compound=true, rankdir=TB, charset="UTF-8", fontname="monospace"]'
        yield '  node [shape=box, fontname="monospace"]'
        yield '  edge [fontname="monospace"]'
        yield from self._rows(picture.rows, "  ")
        yield from self._links(picture.links, "  ")
        yield "}"

    def _rows(self, rows: tuple[Row, ...], indent: str) -> Iterator[str]:
        for row in rows:
            group = len(row.branches) > 1 and bool(row.stages)
            if group:
                yield f'{indent}subgraph {self._cluster()} {{ label="group"; style=filled; color=gray95;'
            for branch in row.branches:
                yield from self._branch(branch, indent + "  " if group else indent)
            if group:
                yield f"{indent}}}"

    def _branch(self, branch: Branch, indent: str) -> Iterator[str]:
        if len(branch.boxes) > 1:
            title = _quoted(branch.title or "")
            yield f"{indent}subgraph {self._cluster()} {{ label={title}; style=rounded; color=gray40;"
        for box in branch.boxes:
            yield from self._box(box, indent)
        if len(branch.boxes) > 1:
            yield f"{indent}}}"

    def _box(self, box: Box, indent: str) -> Iterator[str]:
        if box.frames:
            yield from self._framed(box, indent)
            return
        name = f"n{_name(box.key)}"
        self.ends[box.key] = name, None
        label = box.label + (f" {TIMES}{box.count}" if box.count > 1 else "") + (f" [{box.tag}]" if box.tag else "")
        style = ", style=dashed" if box.opaque else ""
        yield f"{indent}{name} [label={_quoted(label)}{style}]"

    def _framed(self, box: Box, indent: str) -> Iterator[str]:
        cluster = self._cluster()
        if len(box.frames) == 1:
            yield from self._frame(box.frames[0], cluster, indent)
        else:
            yield f"{indent}subgraph {cluster} {{ label={_quoted(box.label)}; style=rounded;"
            for frame in box.frames:
                yield from self._frame(frame, self._cluster(), indent + "  ")
            yield f"{indent}}}"
        inner = boxes_of(box.frames[0].rows)[0]
        alone = len(box.frames) == len(boxes_of(box.frames[0].rows)) == 1
        self.ends[box.key] = self.ends[inner.key] if alone else (self.ends[inner.key][0], cluster)

    def _frame(self, frame: Frame, cluster: str, indent: str) -> Iterator[str]:
        yield f'{indent}subgraph {cluster} {{ label={_quoted(frame.title)}; style="rounded,dashed";'
        yield from self._rows(frame.rows, indent + "  ")
        yield from self._links(frame.links, indent + "  ")
        yield f"{indent}}}"

    def _links(self, links: tuple[Link, ...], indent: str) -> Iterator[str]:
        for link in links:
            (src, tail), (dst, head) = self.ends[link.src], self.ends[link.dst]
            words = [f"label={_quoted(', '.join(link.planes))}"]
            if link.kind != "RAW":
                words += ["style=dotted", f"tooltip={_quoted(meaning(link.kind))}"]
            words += [f"ltail={tail}"] if tail else []
            words += [f"lhead={head}"] if head else []
            yield f"{indent}{src} -> {dst} [{', '.join(words)}]"

    def _cluster(self) -> str:
        self.clusters += 1
        return f"cluster_{self.clusters}"


def _name(key: Key) -> str:
    return "_".join(str(number) if number >= 0 else "r" for number in key)
