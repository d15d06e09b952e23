"""Levels inside levels: rows of boxes, branches and frames, each arranged from the inside outwards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from eagle.draw.layout.boxes import Port, add_ports, box_piece, frame_lines, odd, told
from eagle.draw.layout.columns import GAP
from eagle.draw.layout.diagram import arrange
from eagle.draw.layout.geometry import Layout, Mark, PlacedFrame, PlacedName, Point, Rect, Route
from eagle.draw.layout.options import Options
from eagle.draw.layout.pieces import Layers, Piece, Wire
from eagle.draw.layout.wiring import Bundle, bundles_of
from eagle.draw.names import width
from eagle.draw.picture import Box, Branch, Frame, Key, Link, Row, boxes_of

__all__ = ["Level"]


class Level:
    """Rows of boxes with the links between them, arranged.

    Parameters
    ----------
    rows : sequence of Row
    links : sequence of Link
    options : Options
    numbers : iterator of int
        Of the wires.
    least : int
        The least width of a box that is alone.
    crossing : sequence of Bundle
        Lines that come from outside or go there. Each meets the outside at a pin, above or below everything.
    body : bool
        Whether a node holds it: then it need not run, and what is written and read by nobody inside is not named.

    Attributes
    ----------
    size : Size
    """

    def __init__(
        self,
        rows: Sequence[Row],
        links: Sequence[Link],
        options: Options,
        numbers: count[int],
        *,
        least: int = 0,
        crossing: Sequence[Bundle] = (),
        body: bool = False,
    ) -> None:
        self.rows, self.options, self.numbers = rows, options, numbers
        boxes = boxes_of(rows)
        self.least, self.body = least if len(boxes) == 1 else 0, body
        self.labels = {box.key: box.label for box in boxes}
        branches = [branch for row in rows for branch in row.branches]
        self.home = {
            box.key: number if len(branch.boxes) > 1 else None
            for number, branch in enumerate(branches)
            for box in branch.boxes
        }
        drawn, self.after = self._split(links)
        self.inside = [link for link in drawn if self._stays_inside(link)]
        self.bundles = bundles_of((link for link in drawn if not self._stays_inside(link)), numbers)
        self.inner = {bundle.wire: Wire(bundle.wire.number) for bundle in crossing}
        self.crossing = [Bundle(wire=self.inner[b.wire], links=b.links, names=b.names) for b in crossing]
        self.pieces: dict[Key, Piece] = {}
        self.levels: dict[Key, Level] = {}
        self.row_pieces = [[self._branch(branch) for branch in row.branches] for row in rows]
        self._arrange()

    def pin(self, outside: Wire) -> Piece:
        """Return where a line from outside, or to there, meets it."""
        return self.pins[self.inner[outside]]

    @property
    def only(self) -> Piece | None:
        """The only piece, if there is but one."""
        return self.row_pieces[0][0] if len(self.row_pieces) == len(self.row_pieces[0]) == 1 else None

    def draw(self, x: int, y: int, layout: Layout) -> None:
        """Add everything to `layout`, with the upper left cell at (x, y)."""
        self.at = Point(x, y)
        for row, pieces, first in zip(self.rows, self.row_pieces, self.first_layers, strict=True):
            if len(row.branches) > 1:
                layout.frames.append(PlacedFrame("", "group", _around(pieces, x, y)))
            if row.stages:
                entry = min(piece.entry for piece in pieces if piece.layer == first)
                layout.marks.append(Mark(row.stages, row.schedule, y + self.size.tops[first] + entry))
        for piece in (piece for pieces in self.row_pieces for piece in pieces):
            left, top = x + int(piece.x), y + piece.y
            if piece.draw is not None:
                piece.draw(left, top, layout)
            layout.names.extend(
                PlacedName(name.text, name.full, Point(left + name.dx, top + piece.height)) for name in piece.names
            )
        for bundle in self.bundles:
            for (src, dst), link in bundle.links.items():
                layout.routes.append(Route(link, bundle.wire.number, _straightened(self._way(bundle.wire, src, dst))))
        layout.after.extend(link for links in self.after.values() for link in links)

    # inside -----------------------------------------------------------------------------------------------------------

    def _split(self, links: Sequence[Link]) -> tuple[list[Link], dict[Key, list[Link]]]:
        """Return the links to draw, and those to tell, by the box that waits."""
        reach = self.options.reach
        place = {box.key: number for number, row in enumerate(self.rows) for box in row.boxes}
        drawn: list[Link] = []
        after: dict[Key, list[Link]] = {}
        for link in links:
            if reach is None or (reach > 0 and place[link.dst] - place[link.src] <= reach):
                drawn.append(link)
            else:
                after.setdefault(link.dst, []).append(link)
        return drawn, after

    def _stays_inside(self, link: Link) -> bool:
        home = self.home[link.src]
        return home is not None and home == self.home[link.dst]

    def _arrange(self) -> None:
        self.pins = {bundle.wire: Piece(movable=False, draw=_nothing) for bundle in self.crossing}
        entering: list[Piece] = []
        leaving: list[Piece] = []
        for bundle in self.crossing:
            pin = self.pins[bundle.wire]
            sources, targets = self._ends(bundle)
            bundle.wire.sources, bundle.wire.targets = sources or [pin], targets or [pin]
            (leaving if sources else entering).append(pin)
        for bundle in self.bundles:
            bundle.wire.sources, bundle.wire.targets = self._ends(bundle)
        layers: Layers = [entering] if entering else []
        self.first_layers = []
        for row, pieces in zip(self.rows, self.row_pieces, strict=True):
            self.first_layers.append(len(layers))
            layers.extend(_wrapped(pieces, self.options.max_width, self._passing(row)))
        if leaving:
            layers.append(leaving)
        wires = [bundle.wire for bundle in (*self.crossing, *self.bundles)]
        self.size = arrange(layers, wires, self.options)

    def _passing(self, row: Row) -> int:
        """Return how many wires start, end or go on in a row, and may have to pass some of its boxes by."""
        place = {box.key: number for number, row in enumerate(self.rows) for box in row.boxes}
        here = place[row.boxes[0].key]
        ends = [[place.get(key, here) for link in bundle.links for key in link] for bundle in self.bundles]
        return sum(min(places) <= here <= max(places) for places in ends)

    def _ends(self, bundle: Bundle) -> tuple[list[Piece], list[Piece]]:
        sources = dict.fromkeys(self.pieces[key] for key in bundle.sources if key in self.pieces)
        targets = dict.fromkeys(self.pieces[key] for key in bundle.targets if key in self.pieces)
        return list(sources), list(targets)

    def _way(self, wire: Wire, src: Key, dst: Key) -> list[Point]:
        """Return the cells at which `wire` bends from one box to another, those inside branches among them."""
        points = self._moved(wire.paths[self.pieces[src], self.pieces[dst]])
        if src in self.levels:
            level = self.levels[src]
            points = level._moved(level.inner[wire].paths[level.pieces[src], level.pin(wire)]) + points
        if dst in self.levels:
            level = self.levels[dst]
            points = points + level._moved(level.inner[wire].paths[level.pin(wire), level.pieces[dst]])
        return points

    def _moved(self, points: list[Point]) -> list[Point]:
        return [Point(self.at.x + x, self.at.y + y) for x, y in points]

    def _branch(self, branch: Branch) -> Piece:
        """Return the piece of a branch: its box, or a frame with the boxes of a longer one."""
        if len(branch.boxes) == 1:
            (box,) = branch.boxes
            self.pieces[box.key] = piece = self._box(box)
            return piece
        keys = {box.key for box in branch.boxes}
        crossing = [bundle for bundle in self.bundles if keys & {*bundle.sources, *bundle.targets}]
        rows = tuple(Row(branches=(Branch(boxes=(box,)),)) for box in branch.boxes)
        links = [link for link in self.inside if link.src in keys]
        told_inside = [link for key in keys for link in self.after.get(key, ()) if link.src in keys]
        for key in keys:
            self.after[key] = [link for link in self.after.get(key, ()) if link.src not in keys]
        level = Level(
            rows, [*links, *told_inside], self.options.inside(), self.numbers, crossing=crossing, body=self.body
        )
        piece = _framed(Frame(title=branch.title or "", rows=rows), level, "branch", self.options)
        piece.entry, piece.movable = 0, False
        for bundle in crossing:
            pin = level.pin(bundle.wire)
            ends = piece.outs if keys & set(bundle.sources) else piece.ins
            ends[bundle.wire] = int(pin.x) + (piece.width - level.size.width) // 2
        self.pieces.update(dict.fromkeys(keys, piece))
        self.levels.update(dict.fromkeys(keys, level))
        return piece

    def _box(self, box: Box) -> Piece:
        bundles = (*self.bundles, *self.crossing)
        ports: list[Port] = [(bundle.wire, bundle.names[box.key]) for bundle in bundles if box.key in bundle.names]
        after = [told(link, self.labels.get(link.src, "")) for link in self.after.get(box.key, ())]
        if box.frames and self.options.depth > 0:
            return self._frames(box, ports, after)
        named = {
            plane for b in bundles for (src, _), link in b.links.items() if src == box.key for _, plane in link.hazards
        }
        if unread := tuple(name for name in box.written if name not in named and not self.body and not box.frames):
            ports.append((None, unread))
        return box_piece(box, ports, after, self.options, self.least)

    def _frames(self, box: Box, ports: Sequence[Port], after: Sequence[str]) -> Piece:
        """Return the piece of a box with bodies: its frame, or one around several."""
        frame = box.frames[0]
        if len(box.frames) > 1:
            parts = tuple(
                Branch(boxes=(Box(key=(*box.key, number), label="", kind=box.kind, frames=(inner,)),))
                for number, inner in enumerate(box.frames)
            )
            frame = Frame(title=box.label, rows=(Row(branches=parts),))
        lines = frame_lines(after, self.options)
        inside = self.options.inside()
        title = inside.lettering.spell(frame.title)
        least = max(
            self.least, width(inside.lettering.cut(title, max(inside.max_width - 2, 1))) + 6, *map(width, lines)
        )
        level = Level(frame.rows, frame.links, inside, self.numbers, least=odd(least) - 4, body=True)
        piece = _framed(frame, level, "body", self.options, lines, box)
        add_ports(piece, ports, self.options)
        if level.only is not None and not lines:
            piece.entry = level.only.entry + 1
            piece.middle = int(level.only.x) + level.only.middle + (piece.width - level.size.width) // 2
        return piece


def _framed(
    frame: Frame, level: Level, kind: str, options: Options, lines: tuple[str, ...] = (), box: Box | None = None
) -> Piece:
    """Return the piece of a frame around a level."""
    lettering = options.lettering
    title = lettering.cut(lettering.spell(frame.title), max(options.max_width - 6, 1))
    piece = Piece(
        width=odd(max(width(title) + 6 if title else 0, level.size.width + 4, *(width(line) + 4 for line in lines))),
        height=level.size.height + 2 + len(lines),
    )
    piece.middle = piece.width // 2

    def draw(x: int, y: int, layout: Layout) -> None:
        rect = Rect(x, y, piece.width, piece.height)
        layout.frames.append(PlacedFrame(title, kind, rect, lines, box))
        level.draw(x + (piece.width - level.size.width) // 2, y + 1 + len(lines), layout)

    piece.draw = draw
    return piece


def _wrapped(pieces: list[Piece], room: int, passing: int) -> Layers:
    """Return one row as as many layers as it takes to be no wider than `room`, with wires passing beside it."""
    if _columns(pieces) <= room:
        return [pieces[:]]
    room = max(room - passing * (GAP + 1), room // 2)
    full = _filled(pieces, room)
    evenly = -(-len(pieces) // len(full))
    even = [pieces[start : start + evenly] for start in range(0, len(pieces), evenly)]
    return even if all(_columns(layer) <= room for layer in even) else full


def _filled(pieces: list[Piece], room: int) -> Layers:
    layers: Layers = [[]]
    for piece in pieces:
        if layers[-1] and _columns([*layers[-1], piece]) > room:
            layers.append([])
        layers[-1].append(piece)
    return layers


def _columns(layer: Sequence[Piece]) -> int:
    return sum(piece.width + GAP for piece in layer) - GAP


def _around(pieces: Sequence[Piece], x: int, y: int) -> Rect:
    left, top = min(int(piece.x) for piece in pieces), min(piece.y for piece in pieces)
    right = max(int(piece.x) + piece.width for piece in pieces)
    bottom = max(piece.y + piece.height for piece in pieces)
    return Rect(x + left, y + top, right - left, bottom - top)


def _straightened(points: Sequence[Point]) -> tuple[Point, ...]:
    """Drop the cells at which nothing bends."""
    kept: list[Point] = []
    for point in points:
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1 and (kept[-2].x == kept[-1].x == point.x or kept[-2].y == kept[-1].y == point.y):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _nothing(x: int, y: int, layout: Layout) -> None:
    """Draw a pin, which is not to be seen."""
