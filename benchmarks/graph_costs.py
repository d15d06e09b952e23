"""What a graph costs on the CPU: importing, building, launching, as ratios and differences within one run.

Each figure is the median over rounds in which the two sides take turns (A B A B), beside the bar it has to meet.
Run it on an otherwise idle machine: ``make bench``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import eagle
from eagle.graph import opaque

ROUNDS = 15
NODES = 1000


def nothing() -> None:
    """Do nothing."""


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def difference(a: Callable[[], object], b: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the medians of ``b - a`` and ``b / a`` over rounds of both, in turn."""
    pairs = [(seconds(a), seconds(b)) for _ in range(rounds)]
    return statistics.median(y - x for x, y in pairs), statistics.median(y / x for x, y in pairs)


def python(code: str) -> Callable[[], object]:
    # Byte code is cached, as it is for anyone who has imported a package before.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def chain() -> eagle.Graph:
    arrays = [np.zeros(4) for _ in range(NODES + 1)]
    g = eagle.Graph()
    for x, y in pairwise(arrays):
        g.add_node(opaque(nothing, reads={"x": x}, writes={"y": y}))
    return g


def copies() -> eagle.Graph:
    arrays = [np.zeros(4) for _ in range(NODES + 1)]
    g = eagle.Graph()
    for x, y in pairwise(arrays):
        g.add_node(eagle.copy(x, into=y))
    return g


def in_place() -> eagle.Graph:
    x = np.zeros(4)
    g = eagle.Graph()
    for _ in range(NODES):
        g.add_node(opaque(nothing, reads={"x": x}, writes={"x": x}))
    return g


def median_of(run: Callable[[eagle.Graph], object], make: Callable[[], eagle.Graph], rounds: int) -> float:
    graphs = [make() for _ in range(rounds)]
    return statistics.median(seconds(lambda g=g: run(g)) for g in graphs)  # type: ignore[misc]


def calls(function: Callable[[], object], count: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            function()

    return run


class Figure(NamedTuple):
    """One measured thing, in seconds, and a ratio where there is one."""

    what: str
    seconds: float
    ratio: float | None
    bar: str


def figures(rounds: int = ROUNDS) -> Iterator[Figure]:
    """Measure everything."""
    python("import numpy, eagle")()
    added, ratio = difference(python("import numpy"), python("import numpy, eagle"), rounds)
    yield Figure("import eagle, over import numpy", added, ratio, "at most 40 ms")

    chain().build()
    for make, what, bar in (
        (chain, "build of a 1000-node chain", "at most 30 ms"),
        (copies, "build of a 1000-node chain of copies", "at most 30 ms"),
        (in_place, "build of 1000 nodes in place on one array", "at most 300 ms"),
    ):
        yield Figure(what, median_of(eagle.Graph.build, make, rounds), None, bar)
        reduced = median_of(lambda g: g.edges(reduced=True), make, rounds)
        yield Figure(f"reduced edges, after the {what}", reduced, None, bar)

    g = eagle.Graph().add_node(opaque(nothing)).build()
    count = 100_000
    over, ratio = difference(calls(nothing, count), calls(g.launch, count), rounds)
    yield Figure("launch() of one opaque, over the bare call", over / count, ratio, "at most 700 ns")
    over, ratio = difference(calls(nothing, count), calls(lambda: g.launch(1000), count // 1000), rounds)
    yield Figure("launch(1000) of it, a run, over the bare call", over / count, ratio, "at most 60 ns")


def time_in_words(seconds: float) -> str:
    """Return a time with the unit it reads best in, to three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main() -> None:
    """Measure and print every figure."""
    for what, value, ratio, bar in figures():
        figure = time_in_words(value) + ("" if ratio is None else f" ({ratio:.2f}x)")
        print(f"{what:70} {figure:>20}   {bar}")


if __name__ == "__main__":
    main()
