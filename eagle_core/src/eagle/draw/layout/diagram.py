"""One level of a picture: pieces in layers and wires between them, in the manner of Sugiyama."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eagle.draw.layout.channels import Run, assign_tracks
from eagle.draw.layout.columns import Joints, assign_columns
from eagle.draw.layout.geometry import Point
from eagle.draw.layout.options import Options
from eagle.draw.layout.ordering import reduce_crossings
from eagle.draw.layout.pieces import Layers, Piece, Wire

__all__ = ["Size", "arrange"]


class Size(NamedTuple):
    """The extent of an arranged level, names among it, and the first line of every layer."""

    width: int
    height: int
    tops: tuple[int, ...]


def arrange(layers: Layers, wires: Sequence[Wire], options: Options) -> Size:
    """Set the place of every piece, and the way of every wire, relative to the level's upper left cell.

    Each wire passes the layers between its ends at one place; then crossings are reduced, columns are assigned, and
    in the channel between two layers each wire gets a line of its own to run sideways on.
    """
    for number, layer in enumerate(layers):
        for piece in layer:
            piece.layer = number
    passes = {wire: _add_passes(layers, wire) for wire in wires}
    ways = [_stops(wire, passes[wire], number) for wire in wires for number in range(len(layers) - 1)]
    above: Joints = {piece: [] for layer in layers for piece in layer}
    below: Joints = {piece: [] for layer in layers for piece in layer}
    for wire, tops, bottoms in ways:
        for top in tops:
            for bottom in bottoms:
                above[bottom].append((top, wire))
                below[top].append((bottom, wire))
    reduce_crossings(
        layers,
        {piece: [other for other, _ in joints] for piece, joints in above.items()},
        {piece: [other for other, _ in joints] for piece, joints in below.items()},
    )
    assign_columns(layers, above, below, options.max_width)
    channels = [_runs(wires, passes, number) for number in range(len(layers) - 1)]
    size = _assign_lines(layers, channels)
    for wire in wires:
        wire.paths = _trace(wire, passes[wire], channels, size.tops)
    return size._replace(width=_settle_names(layers, size.width, options))


def _add_passes(layers: Layers, wire: Wire) -> dict[int, Piece]:
    """Put a piece into every layer the wire passes, and return them by layer."""
    first = min(piece.layer for piece in wire.sources)
    last = max(piece.layer for piece in wire.targets)
    passes = {number: Piece(layer=number) for number in range(first + 1, last)}
    for number, piece in passes.items():
        layers[number].append(piece)
    return passes


def _stops(wire: Wire, passes: dict[int, Piece], number: int) -> tuple[Wire, list[Piece], list[Piece]]:
    """Return where the wire comes from, and where it goes, in the channel below layer `number`."""
    tops = [piece for piece in wire.sources if piece.layer == number]
    bottoms = [piece for piece in wire.targets if piece.layer == number + 1]
    if number in passes:
        tops.append(passes[number])
    if number + 1 in passes:
        bottoms.append(passes[number + 1])
    return wire, tops, bottoms


def _runs(wires: Sequence[Wire], passes: dict[Wire, dict[int, Piece]], number: int) -> dict[Wire, Run]:
    runs = {}
    for wire in wires:
        _, tops, bottoms = _stops(wire, passes[wire], number)
        if tops and bottoms:
            runs[wire] = Run(wire, [p.start(wire) for p in tops], {p: p.end(wire) for p in bottoms})
    return runs


def _assign_lines(layers: Layers, channels: list[dict[Wire, Run]]) -> Size:
    """Stack layers and channels, give every run its line, and return the size of it all."""
    y, tops = 0, []
    for number, layer in enumerate(layers):
        tops.append(y)
        height = max((piece.height for piece in layer), default=0)
        for piece in layer:
            piece.y = y
        named = any(piece.names and piece.height == height for piece in layer)
        y += height + named
        if number < len(channels):
            tracks = assign_tracks(list(channels[number].values()))
            for run in channels[number].values():
                run.track = None if run.track is None else run.track + y
            y += max(tracks, 0 if named or height == 0 else 1)
    width = max((int(piece.x) + piece.width for layer in layers for piece in layer), default=0)
    return Size(width, y, tuple(tops))


def _trace(
    wire: Wire, passes: dict[int, Piece], channels: list[dict[Wire, Run]], tops: tuple[int, ...]
) -> dict[tuple[Piece, Piece], list[Point]]:
    """Return the way of `wire` from each of its sources to each of its targets."""
    paths = {}
    for source in wire.sources:
        for target in wire.targets:
            column = source.start(wire)
            path = [Point(column, source.y + source.height - 1)]
            for number in range(source.layer, target.layer):
                run = channels[number][wire]
                stop = target if number + 1 == target.layer else passes[number + 1]
                if run.track is not None:
                    path += [Point(column, run.track), Point(run.bottoms[stop], run.track)]
                column = run.bottoms[stop]
                if stop is not target and column != stop.end(wire):
                    path += [Point(column, tops[number + 1]), Point(stop.end(wire), tops[number + 1])]
                    column = stop.end(wire)
            path.append(Point(column, target.y + target.entry))
            paths[source, target] = path
    return paths


def _settle_names(layers: Layers, width: int, options: Options) -> int:
    """Return the width with the names that stick out on the right, and cut those of which little is lost by it."""
    last = [layer[-1] for layer in layers if layer and layer[-1].names]
    edge = width
    for piece in last:
        reach = int(piece.x) + max(name.dx + name.columns for name in piece.names)
        alone = sum(other.draw is not None for other in layers[piece.layer]) == 1
        edge = max(edge, reach if alone or reach - width > options.tolerance else min(reach, width + 1))
    for piece in last:
        piece.names = [
            name._replace(text=options.lettering.cut(name.text, edge - int(piece.x) - name.dx)) for name in piece.names
        ]
    return edge
