"""The order of pieces within their layers, for few crossings."""

from __future__ import annotations

from collections.abc import Iterable

from eagle.draw.layout.pieces import Layers, Piece

__all__ = ["Neighbours", "reduce_crossings"]

_SWEEPS = 6
Neighbours = dict[Piece, list[Piece]]


def reduce_crossings(layers: Layers, above: Neighbours, below: Neighbours) -> None:
    """Reorder every layer by barycentres, sweeping down and up (Sugiyama, Tagawa and Toda, 1981).

    The order with the fewest crossings is kept, the one given when none has fewer.
    """
    best, fewest = [list(layer) for layer in layers], _crossings(layers, below)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            _by_barycentre(layer, above if down else below)
        crossings = _crossings(layers, below)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order
        for place, piece in enumerate(order):
            piece.x = place


def _by_barycentre(layer: list[Piece], neighbours: Neighbours) -> None:
    """Sort one layer by the mean place of each piece's neighbours; a piece without any keeps its place."""
    wanted = {
        piece: sum(other.x for other in neighbours[piece]) / len(neighbours[piece]) if neighbours[piece] else piece.x
        for piece in layer
    }
    layer.sort(key=wanted.__getitem__)
    for place, piece in enumerate(layer):
        piece.x = place


def _crossings(layers: Layers, below: Neighbours) -> int:
    for layer in layers:
        for place, piece in enumerate(layer):
            piece.x = place
    return sum(
        _inversions([int(other.x) for piece in layer for other in sorted(below[piece], key=lambda p: p.x)])
        for layer in layers
    )


def _inversions(places: Iterable[int]) -> int:
    """Count the pairs out of order, with a binary indexed tree (Barth, Juenger and Mutzel, 2002)."""
    places = list(places)
    size = max(places, default=-1) + 2
    tree = [0] * (size + 1)
    total = 0
    for seen, place in enumerate(places):
        not_larger, index = 0, place + 1
        while index:
            not_larger += tree[index]
            index &= index - 1
        total += seen - not_larger
        index = place + 1
        while index <= size:
            tree[index] += 1
            index += index & -index
    return total
