"""Graphs of plans: small ones, a chain, a fork, a mixture, a sum. The published eagle runs it by the same names."""
# ruff: noqa: ANN201 - a kernel returns what its language says

from __future__ import annotations

import json
import time
from itertools import cycle, islice
from typing import Any

import numpy as np

import eagle
import hawk
from hawk import Mutable, Scalar


@hawk.kernel
def affine(a: Scalar, x: Mutable[Scalar]):
    """Two operations, the fewest of the eight."""
    x = 0.5 * x + a


@hawk.kernel
def relax(a: Scalar, x: Mutable[Scalar]):
    x = x + 0.25 * (a - x)


@hawk.kernel
def damp(a: Scalar, x: Mutable[Scalar]):
    x = x * (1.0 - 0.125 * a)


@hawk.kernel
def cubic(a: Scalar, x: Mutable[Scalar]):
    x = x - 0.01 * a * x * x


@hawk.kernel
def blend(a: Scalar, x: Mutable[Scalar]):
    x = 0.5 * (a + x)


@hawk.kernel
def newton(a: Scalar, x: Mutable[Scalar]):
    x = x * (1.25 - a * x * x)


@hawk.kernel
def mirror(a: Scalar, x: Mutable[Scalar]):
    x = a - 0.5 * x


@hawk.kernel
def square(a: Scalar, x: Mutable[Scalar]):
    x = 0.125 * x * x + a


KERNELS = (affine, relax, damp, cubic, blend, newton, mirror, square)
NODES, BRANCHES, LONG = 128, 8, 16


def planes(n: int, count: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.2, 0.8, n) for _ in range(count)]


def chain(plans: list[Any], n: int) -> tuple[Any, list[Any]]:
    a, x = planes(n, 2, 0)
    g = eagle.Graph()
    for plan in islice(cycle(plans), NODES):
        g.add(plan.bind(a=a, x=x))
    return g, [x]


def small(plans: list[Any], nodes: int) -> tuple[Any, list[Any]]:
    """So few samples that what a launch costs is the launch."""
    a, x = planes(8, 2, 3)
    g = eagle.Graph()
    for _ in range(nodes):
        g.add(plans[0].bind(a=a, x=x))
    return g, [x]


def total(n: int) -> tuple[Any, list[Any]]:
    (x,) = planes(n, 1, 4)
    result = np.zeros(1)
    return eagle.Graph().add_node(eagle.reduce(x, result)), [result]


def fork(plans: list[Any], n: int) -> tuple[Any, list[Any]]:
    a, *xs = planes(n, 1 + BRANCHES, 1)
    branches = [[plan.bind(a=a, x=x) for plan in islice(cycle(plans), LONG)] for x in xs]
    return eagle.Graph().add_group(branches), xs


def mixed(plans: list[Any], n: int) -> tuple[Any, list[Any]]:
    """20 kernels on four planes, in plain stages and three groups, and two sums."""
    a, x, y, z = planes(n, 4, 2)
    totals = np.zeros(1), np.zeros(1)
    on = cycle(plans)

    def bound(a: Any, x: Any) -> Any:
        return next(on).bind(a=a, x=x)

    g = eagle.Graph()
    for source, target in ((a, x), (x, y), (y, z), (z, x)):
        g.add(bound(source, target))
    g.add_group([[bound(a, x), bound(a, x)], [bound(a, y), bound(a, y)]])
    for source, target in ((x, z), (z, y), (y, x)):
        g.add(bound(source, target))
    g.add_group([[bound(a, x)], [bound(a, y)], [bound(a, z)]])
    for source, target in ((x, y), (y, z)):
        g.add(bound(source, target))
    g.add_group([[bound(z, x)], [bound(z, y)]])
    for source, target in ((x, z), (y, z)):
        g.add(bound(source, target))
    g.add_node(eagle.reduce(x, totals[0])).add_node(eagle.reduce(y, totals[1]))
    return g, [x, y, z, *totals]


def report(case: str, n: int, made: tuple[Any, list[Any]], one_by_one: bool = False) -> None:
    """Print the seconds of a launch: the least of several blocks of launches, each of some milliseconds."""
    g, results = made

    def launch(count: int) -> None:
        if one_by_one:
            for _ in range(count):
                g.launch()
        else:
            g.launch(count)

    start = time.perf_counter()
    g.build()
    build = time.perf_counter() - start
    g.launch(1)
    check = sum(float(one.sum()) for one in results)
    start = time.perf_counter()
    launch(3)
    count = max(3, min(2000, int(0.01 / max((time.perf_counter() - start) / 3, 1e-6))))
    times = []
    for _ in range(7):
        start = time.perf_counter()
        launch(count)
        times.append((time.perf_counter() - start) / count)
    row = {"case": case, "n": n, "seconds": min(times), "first_call_s": build, "check": check}
    print(json.dumps(row), flush=True)


def main() -> None:
    """Print a row per case."""
    plans = [eagle.deploy(kernel) for kernel in KERNELS]
    for nodes in (1, 64, 128):
        report(f"launch() of {nodes}", 8, small(plans, nodes), one_by_one=True)
        report(f"launch(n) of {nodes}, by n", 8, small(plans, nodes))
    for n in (1024, 100_000):
        report(f"chain of {NODES}, N = {n}", n, chain(plans, n))
    report(f"fork of {BRANCHES} x {LONG}, N = 1024", 1024, fork(plans, 1024))
    for n in (100, 1000, 10_000, 100_000, 1_000_000):
        report(f"mixed, N = {n}", n, mixed(plans, n))
    for n in (1000, 100_000, 10_000_000):
        report(f"sum, N = {n}", n, total(n))


if __name__ == "__main__":
    main()
