"""Columns: every piece as near to straight above and below its neighbours as the others in its layer allow."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from eagle.draw.layout.pieces import Layers, Piece, Wire

__all__ = ["GAP", "Joints", "assign_columns"]

GAP = 3
_SWEEPS = 4
Joints = dict[Piece, list[tuple[Piece, Wire]]]


def assign_columns(layers: Layers, above: Joints, below: Joints, room: int) -> None:
    """Set every piece's column, within `room` columns if they can be.

    Sweeping down and up, each layer takes the places nearest, in least squares, to where its pieces' lines would be
    straight, in order and with room between them. That is an isotonic regression, solved by pooling adjacent
    violators (Ayer et al., 1955). The last sweep goes down in whole columns, so that a line which can be straight is.
    """
    widest = 0
    for layer in layers:
        last = 0
        for number, piece in enumerate(layer):
            piece.x = last = last + _room(layer[number - 1], piece) if number else 0
        end = last + layer[-1].width if layer else 0
        for piece in layer:
            piece.x -= end / 2
        widest = max(widest, end)
    half = max(widest, room) / 2
    for _ in range(_SWEEPS):
        for layer in layers:
            _place(layer, lambda piece: _wanted(piece, above, upward=True), half)
        for layer in reversed(layers):
            _place(layer, lambda piece: _wanted(piece, below, upward=False), half)
    for layer in layers:
        _place(layer, lambda piece: _wanted(piece, above, upward=True), half)
        for piece in layer:
            piece.x = floor(piece.x + 0.5)
    leftmost = min((piece.x for layer in layers for piece in layer), default=0)
    for layer in layers:
        for piece in layer:
            piece.x = int(piece.x - leftmost)


def _room(left: Piece, right: Piece) -> int:
    """Return how far apart two neighbours' left sides stay: names of the left one end before the right one."""
    reach = max((name.dx + name.columns for name in left.names), default=0)
    beside = left.height == right.height and right.height > 0
    gap = GAP if left.draw is not None or right.draw is not None else 2
    return max(left.width + gap, reach if beside else reach + 1)


def _wanted(piece: Piece, joints: Joints, *, upward: bool) -> float:
    """Return the column at which a piece's lines to one side would be straight, in the mean."""
    columns = [
        other.x + other.outs.get(wire, other.middle) - piece.ins.get(wire, piece.middle)
        if upward
        else other.x + other.ins.get(wire, other.middle) - piece.outs.get(wire, piece.middle)
        for other, wire in joints[piece]
    ]
    return sum(columns) / len(columns) if columns else piece.x


def _place(layer: list[Piece], wanted: Callable[[Piece], float], half: float) -> None:
    """Move the pieces of one layer, between -`half` and `half`, as near as they can get to where they are wanted."""
    offset = 0
    offsets: list[int] = []
    pools: list[tuple[float, float, int]] = []
    for number, piece in enumerate(layer):
        offset += _room(layer[number - 1], piece) if number else 0
        offsets.append(offset)
        weight = 1.0 if piece.draw is not None else 4.0
        pools.append((weight * (wanted(piece) - offset), weight, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            later, earlier = pools.pop(), pools.pop()
            pools.append((earlier[0] + later[0], earlier[1] + later[1], earlier[2] + later[2]))
    last = half - offset - (layer[-1].width if layer else 0)
    means = [max(min(total / weight, last), -half) for total, weight, size in pools for _ in range(size)]
    for piece, mean, offset in zip(layer, means, offsets, strict=True):
        piece.x = mean + offset
