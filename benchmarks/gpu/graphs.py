"""Launch overhead, an eager loop against its graph, and reductions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from benchmarks.gpu.arrays import has
from benchmarks.gpu.floors import Floors
from benchmarks.gpu.row import Row, measured

import eagle
import hawk
from eagle.graph import reduce
from hawk import Mutable, Param, Scalar

__all__ = ["graph_rows"]


@hawk.kernel
def drift(x: Mutable[Scalar], v: Scalar, dt: Param) -> None:
    """One of the page's two statements."""
    x += dt * v


@hawk.kernel
def kick(v: Mutable[Scalar], x: Scalar, dt: Param) -> None:
    """The other one."""
    v -= dt * x


def graph_rows(floors: Floors, array: Callable[[Any], Any], *, samples: int, rounds: int, large: int) -> Iterator[Row]:
    """Yield the rows; `samples` of the eager loop, `large` elements of the largest reduction."""
    yield from _overhead(array, rounds)
    yield from _eager(floors, array, samples, rounds)
    for count in (1000, large):
        yield _reduction(floors, array, count, rounds)


def _seconds(run: Callable[[], object], repetitions: int = 1) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) / repetitions


def _overhead(array: Callable[[Any], Any], rounds: int) -> Iterator[Row]:
    """What a launch costs where the kernels cost nothing."""
    plan = eagle.deploy(drift)
    for count in (1, 64):
        x, v = array(np.ones(1)), array(np.ones(1))
        bound = [plan.bind(x=x, v=v, dt=0.0) for _ in range(count)]
        g = eagle.Graph()
        for one in bound:
            g.add(one)
        g.build()
        yield Row(f"launch() of {count} nodes", "eagle", measured(lambda g=g: _seconds(g.launch), rounds))
        many = measured(lambda g=g: _seconds(lambda: g.launch(200), 200), rounds)
        yield Row(f"one of launch(200), {count} nodes", "eagle", many)


def _eager(floors: Floors, array: Callable[[Any], Any], n: int, rounds: int) -> Iterator[Row]:
    """The page's loop, a launch per statement, against the graph of it, per step."""
    steps, moved = 100, 2 * 3 * 8 * n
    if has("cupy"):
        import cupy

        if not hasattr(array(np.zeros(1)), "to_numpy"):
            x, v = cupy.ones(n), cupy.zeros(n)

            def loop() -> None:
                nonlocal x, v
                for _ in range(steps):
                    x += 1e-3 * v
                    v -= 1e-3 * x
                cupy.cuda.Device().synchronize()

            yield Row(f"step of two statements, {n}", "cupy, eager", measured(lambda: _seconds(loop, steps), rounds))
    state = {"x": array(np.ones(n)), "v": array(np.zeros(n))}
    plans = [eagle.deploy(kernel).bind(dt=1e-3, **state) for kernel in (drift, kick)]
    g = eagle.Graph().add(plans[0]).add(plans[1]).build()
    floor = floors.seconds(Counter({"add": 4}), n, moved)
    seconds = measured(lambda: _seconds(lambda: g.launch(steps), steps), rounds)
    yield Row(f"step of two statements, {n}", "eagle, graph", seconds, floor)


def _reduction(floors: Floors, array: Callable[[Any], Any], count: int, rounds: int) -> Row:
    x = array(np.random.default_rng(0).normal(size=count))
    node = reduce(x, array(np.zeros(1)), "sum")
    g = eagle.Graph().add_node(node).build()
    seconds = measured(lambda: _seconds(g.launch), rounds)
    rate = 8 * count / seconds
    floor = floors.seconds(Counter(), 0, 8 * count)
    return Row(f"sum of {count} float64", "eagle", seconds, floor, f"{rate / 1e9:,.0f} GB/s")
