"""Random graphs of kernels give the bits of their plans launched one after another, however they are scheduled."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import kernels
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle_cpu import team

PLANES = 6
plans = {
    name: eagle.deploy(getattr(kernels, name)) for name in ("affine", "scale", "bump", "sum_and_difference", "sine")
}
Arrays = list[np.ndarray]


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    before = team.team_size()
    yield
    team.set_team_size(before)


@st.composite
def nodes(draw: st.DrawFn, writes: list[int], reads: list[int]) -> Callable[[Arrays], eagle.BoundPlan]:
    """A node that writes planes of the one list and reads of both."""
    name = draw(st.sampled_from(sorted(plans)))
    into = draw(st.sampled_from(writes))
    other = [plane for plane in [*reads, *writes] if plane != into]
    if name == "bump" or not other:
        return lambda arrays: plans["bump"].bind(x=arrays[into])
    source, second = draw(st.sampled_from(other)), draw(st.sampled_from(other))
    if name == "affine":
        return lambda arrays: plans["affine"].bind(a=arrays[source], x=arrays[into])
    if name == "scale":
        return lambda arrays: plans["scale"].bind(x=arrays[source], factor=0.75, out=arrays[into])
    if name == "sine":
        return lambda arrays: plans["sine"].bind(x=arrays[source], out=arrays[into])
    rest = [plane for plane in writes if plane != into]
    if not rest:
        return lambda arrays: plans["bump"].bind(x=arrays[into])
    third = draw(st.sampled_from(rest))
    return lambda arrays: plans["sum_and_difference"].bind(
        a=arrays[into], b=arrays[third], total=arrays[into], difference=arrays[third]
    )


@st.composite
def stages(draw: st.DrawFn) -> list[list[Callable[[Arrays], eagle.BoundPlan]]]:
    """One node, or branches that write planes of their own and read those nobody writes."""
    planes = draw(st.permutations(range(PLANES)))
    if draw(st.booleans()):
        return [[draw(nodes(list(planes), []))]]
    cuts = sorted(draw(st.sets(st.integers(1, PLANES - 1), min_size=1, max_size=3)))
    shared, *own = (list(planes[a:b]) for a, b in zip([0, *cuts], [*cuts, PLANES], strict=True))
    if len(own) < 2:
        return [[draw(nodes(own[0], shared)) for _ in range(draw(st.integers(1, 3)))][:1]]
    return [[draw(nodes(mine, shared)) for _ in range(draw(st.integers(1, 4)))] for mine in own]


@pytest.mark.property
@given(
    st.lists(stages(), min_size=1, max_size=8),
    st.sampled_from([1, 7, 64, 1000, 4096, 4097, 9000]),
    st.integers(1, 8),
    st.integers(1, 3),
)
def test_a_graph_gives_the_bits_of_its_nodes_one_by_one(
    program: list[list[list[Callable[[Arrays], eagle.BoundPlan]]]], samples: int, threads: int, repetitions: int
) -> None:
    start = np.random.default_rng(samples).uniform(-2, 2, (PLANES, samples))
    arrays, expected = [*start.copy()], [*start.copy()]
    team.set_team_size(1)
    for _ in range(repetitions):
        for stage in program:
            for branch in stage:
                for node in branch:
                    node(expected).launch()
    team.set_team_size(threads)
    g = eagle.Graph()
    for stage in program:
        if len(stage) == 1:
            for node in stage[0]:
                g.add(node(arrays))
        else:
            g.add_group([[node(arrays) for node in branch] for branch in stage])
    g.build().launch(repetitions)
    words = {
        ("branch_tasks" if len(stage) > 1 and samples <= 4096 and threads > 1 else "work_share") for stage in program
    }
    assert set(g.schedule) == words
    for got, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
