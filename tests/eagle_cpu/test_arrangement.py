"""Which nodes run side by side: nothing that must wait ever does, and everything runs once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle.plugin import Blueprint
from eagle_cpu.arrangement import side_by_side
from eagle_cpu.steps import CpuStep, NativeStep


def native(samples: int) -> CpuStep:
    placed: Any = None
    return NativeStep(lambda step: step, placed, 1, 0, samples=samples, grain=1, cost_ns=1.0)


def blueprint(before: list[tuple[int, ...]]) -> Blueprint:
    return Blueprint(title="test", nodes=(), stages=(), before=tuple(before))


@st.composite
def orders(draw: st.DrawFn) -> list[tuple[int, ...]]:
    count = draw(st.integers(1, 14))
    return [tuple(sorted(draw(st.sets(st.integers(0, node - 1), max_size=3)))) if node else () for node in range(count)]


@pytest.mark.property
@given(orders(), st.data())
def test_every_node_runs_once_and_after_those_it_waits_for(before: list[tuple[int, ...]], data: st.DataObject) -> None:
    sizes = [data.draw(st.sampled_from([10, 4096, 5000])) for _ in before]
    first = data.draw(st.integers(0, len(before) - 1))
    nodes = list(range(first, len(before)))
    stages = side_by_side(blueprint(before), [native(size) for size in sizes], nodes, 2)
    place = {
        node: (s, b, i)
        for s, stage in enumerate(stages)
        for b, branch in enumerate(stage)
        for i, node in enumerate(branch)
    }
    assert sorted(node for stage in stages for branch in stage for node in branch) == nodes
    for node in nodes:
        for other in before[node]:
            if other >= first:
                same_branch = place[other][:2] == place[node][:2] and place[other][2] < place[node][2]
                assert same_branch or place[other][0] < place[node][0]
    for stage in stages:
        assert len(stage) == 1 or all(sizes[node] <= 4096 for branch in stage for node in branch)


def test_independent_chains_become_branches_and_a_join_ends_them() -> None:
    before: list[tuple[int, ...]] = [(), (), (0,), (1,), (2, 3), (4,), ()]
    steps = [native(10)] * 7
    assert side_by_side(blueprint(before), steps, range(7), 2) == [[[0, 2], [1, 3]], [[4, 5], [6]]]


def test_one_thread_leaves_every_node_by_itself() -> None:
    before: list[tuple[int, ...]] = [(), (), ()]
    assert side_by_side(blueprint(before), [native(10)] * 3, range(3), 1) == [[[0]], [[1]], [[2]]]


def test_a_large_node_stands_alone() -> None:
    before: list[tuple[int, ...]] = [(), (), (), ()]
    steps = [native(10), native(10), native(5000), native(10)]
    assert side_by_side(blueprint(before), steps, range(4), 2) == [[[0], [1]], [[2]], [[3]]]
