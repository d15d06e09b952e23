"""Reductions behind the kernels that make their plane: in the same fused kernel, or as the next job of the tile.

Both sides take turns within a round; a figure is the least time of each over rounds and the median of the ratios. Run
it on an otherwise idle machine: ``make bench``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

import eagle
import hawk
from eagle_cpu.fusion import Reduced, pieces
from eagle_cpu.steps import NativeStep
from eagle_cpu.team import set_team_size, team_size

ROUNDS = 21
SIZES = (1000, 10_000, 100_000, 10_000_000)


@hawk.kernel
def affine(a: hawk.Scalar, x: hawk.Mutable[hawk.Scalar]) -> None:
    """Two operations."""
    x = a * x + 1.0


class Figure(NamedTuple):
    """Seconds of a launch, and the median of the fused one's over the other's."""

    op: str
    kernels: int
    samples: int
    tiled: float
    fused: float
    ratio: float


def graph(op: str, kernels: int, samples: int, *, fused: bool) -> eagle.Graph:
    """Return `kernels` kernels in place on one plane and its reduction, built."""
    x, a, out = np.full(samples, 0.5), np.full(samples, 0.5), np.zeros(1)
    plan, g = eagle.deploy(affine), eagle.Graph()
    for _ in range(kernels):
        g.add(plan.bind(a=a, x=x))
    g.add_node(eagle.reduce(x, out, op))
    fits = pieces.obstacle_of

    def apart(step: NativeStep) -> str | None:
        return "reductions are kept apart here" if isinstance(step.source, Reduced) else fits(step)

    with patch.object(pieces, "obstacle_of", fits if fused else apart):
        g.build()
    assert ("one fused kernel" in g.fusion()) == fused
    return g


def seconds(g: eagle.Graph, count: int) -> float:
    """Return what one of `count` launches takes, the least of a few times."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        g.launch(count)
        best = min(best, time.perf_counter() - start)
    return best / count


def compare(op: str, kernels: int, samples: int, rounds: int = ROUNDS) -> Figure:
    """Measure one case."""
    sides = [graph(op, kernels, samples, fused=fused) for fused in (False, True)]
    count = max(1, 2_000_000 // samples // (1 + kernels))
    for g in sides:
        seconds(g, count)
    tiled, fused = zip(*([seconds(g, count) for g in sides] for _ in range(rounds)), strict=True)
    ratio = statistics.median(b / a for a, b in zip(tiled, fused, strict=True))
    return Figure(op, kernels, samples, min(tiled), min(fused), ratio)


def figures() -> Iterator[Figure]:
    """Measure everything."""
    for op in ("sum", "max"):
        for kernels in (1, 4):
            for samples in SIZES:
                yield compare(op, kernels, samples)


def main() -> None:
    """Measure and print every figure, on the whole team and on one thread."""
    everybody = team_size()
    try:
        for threads in sorted({everybody, 1}, reverse=True):
            set_team_size(threads)
            print(f"{threads} thread{'s' if threads > 1 else ''}: us a launch")
            print(f"{'':24} {'next job':>10} {'fused':>10} {'ratio':>7}")
            for one in figures():
                name = f"{one.kernels} kernel{'s' if one.kernels > 1 else ''} + {one.op}"
                print(f"{name:13} {one.samples:>10,} {one.tiled * 1e6:10.2f} {one.fused * 1e6:10.2f} {one.ratio:6.2f}x")
    finally:
        set_team_size(everybody)


if __name__ == "__main__":
    main()
