"""What a graph leaves behind: nothing, but the counters."""

from __future__ import annotations

import gc
import resource
import tracemalloc
import weakref

import numpy as np
import pytest

import eagle
from eagle.graph import opaque


def nothing() -> None:
    """A step that does nothing."""


def make() -> eagle.Graph:
    x, y, flag = np.zeros(4), np.zeros(4), np.ones(1)
    g = eagle.Graph()
    g.add_node(opaque(nothing, reads={"x": x}, writes={"y": y}), name="a")
    g.add_group([eagle.copy(y, into=x), opaque(nothing, reads={"y": y})])
    g.add_node(eagle.repeat_while((eagle.reduce(x, y[:1]),), eagle.SkipGuard.nonzero(flag), 2))
    return g


def test_dropping_the_last_reference_frees_the_graph_without_a_collector_run() -> None:
    gc.collect()
    gc.disable()
    try:
        g = make().build().launch()
        str(g)
        alive, array = weakref.ref(g), weakref.ref(g._executable)
        del g
        assert alive() is None
        assert array() is None
    finally:
        gc.enable()


def test_cycles_of_build_launch_and_drop_do_not_grow_memory() -> None:
    def cycles(count: int) -> None:
        for _ in range(count):
            make().build().launch()

    cycles(200)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        cycles(1000)
        gc.collect()
        grown = sum(change.size_diff for change in tracemalloc.take_snapshot().compare_to(before, "filename"))
    finally:
        tracemalloc.stop()
    assert grown < 100_000


def test_counters_count_repetitions_and_no_captures_on_the_cpu() -> None:
    before = eagle.counters()
    g = eagle.Graph().add_node(opaque(nothing)).build().launch(3).enqueue(2)
    assert (g.captures, g.graph_builds) == (0, 0)
    assert eagle.counters()["launches"] - before["launches"] == 5
    del g
    after = eagle.counters()
    assert after["launches"] - before["launches"] == 5
    assert (after["captures"], after["graph_builds"]) == (0, 0)


@pytest.mark.slow
def test_ten_thousand_cycles_do_not_grow_the_process() -> None:
    def cycles(count: int) -> int:
        for _ in range(count):
            make().build().launch()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    gc.disable()
    try:
        settled = cycles(500)
        assert cycles(10_000) - settled < 4096  # kB, the most the process ever had
    finally:
        gc.enable()
