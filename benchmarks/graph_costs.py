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
from collections.abc import Callable
from itertools import pairwise

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


def median_of(run: Callable[[eagle.Graph], object], make: Callable[[], eagle.Graph]) -> float:
    graphs = [make() for _ in range(ROUNDS)]
    return statistics.median(seconds(lambda g=g: run(g)) for g in graphs)  # type: ignore[misc]


def calls(function: Callable[[], object], count: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            function()

    return run


def report(what: str, figure: str, bar: str) -> None:
    print(f"{what:58} {figure:>26}   {bar}")


def main() -> None:
    """Measure and print every figure."""
    python("import numpy, eagle")()
    added, ratio = difference(python("import numpy"), python("import numpy, eagle"))
    report("import eagle, over import numpy", f"{added * 1e3:.1f} ms ({ratio:.2f}x)", "at most 40 ms")

    chain().build()
    for make, what, bar in (
        (chain, "build of a 1000-node chain", "at most 30 ms"),
        (copies, "build of a 1000-node chain of copies", "at most 30 ms"),
        (in_place, "build of 1000 nodes in place on one array", "at most 300 ms"),
    ):
        report(what, f"{median_of(eagle.Graph.build, make) * 1e3:.1f} ms", bar)
        report("  its reduced edges", f"{median_of(lambda g: g.edges(reduced=True), make) * 1e3:.1f} ms", bar)

    g = eagle.Graph().add_node(opaque(nothing)).build()
    count = 100_000
    over, ratio = difference(calls(nothing, count), calls(g.launch, count))
    report(
        "launch() of one opaque, over the bare call", f"{over / count * 1e9:.0f} ns ({ratio:.1f}x)", "at most 700 ns"
    )
    over, ratio = difference(calls(nothing, count), calls(lambda: g.launch(1000), count // 1000))
    report(
        "launch(1000) of it, a run, over the bare call", f"{over / count * 1e9:.1f} ns ({ratio:.2f}x)", "at most 60 ns"
    )


if __name__ == "__main__":
    main()
