"""Random graphs of kernels leave the same bits, and raise the same fault, however they are joined, cut and spread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import graph_kernels
import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from plane_pool import PlanePool

import eagle
from eagle.graph import Node, opaque
from eagle_cpu import launching, team
from eagle_cpu.fusion import alignment, joining, pieces

Entry = Any
PYTHON, REDUCE, LOOP, COPY = -1, -2, -3, -4
REDUCED = [(op, dtype) for op in ("sum", "max", "min") for dtype in ("float64", "int32")] + [
    ("all", "bool"),
    ("any", "bool"),
]
COPIED: list[tuple[str, tuple[int, ...]]] = [("float64", ()), ("int32", ()), ("bool", ()), ("float64", (3,))]
numbers = st.tuples(*[st.integers(0, 11)] * 4)
launches = st.tuples(st.integers(0, len(graph_kernels.plans()) - 1), numbers)
copies = st.tuples(st.just(COPY), numbers)
reductions = st.tuples(st.just(REDUCE), numbers)
others = st.tuples(st.sampled_from([PYTHON, COPY, COPY]), numbers)
loops = st.tuples(st.just(LOOP), st.lists(launches, min_size=1, max_size=4))
stages = st.one_of(
    *[launches.map(lambda node: [[node]])] * 6,
    *[reductions.map(lambda node: [[node]])] * 2,
    others.map(lambda node: [[node]]),
    loops.map(lambda node: [[node]]),
    st.lists(st.lists(st.one_of(launches, launches, copies), min_size=1, max_size=3), min_size=2, max_size=3),
)
few = st.tuples(*[st.integers(0, 2)] * 3, st.integers(1, 2))  # planes that line up
inner = st.tuples(st.integers(0, len(graph_kernels.plans()) - 4), few)  # kernels that cannot fault
tallies = st.tuples(st.just(REDUCE), st.tuples(*[st.integers(0, 11)] * 3, st.just(2)))
rows_with_reductions = st.lists(st.one_of(inner, tallies).map(lambda node: [[node]]), min_size=2, max_size=8)
programs = st.lists(stages, min_size=1, max_size=10)


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    before = team.team_size()
    yield
    team.set_team_size(before)


def item(pool: PlanePool, entry: Entry) -> Any:
    """A node, a bound plan, or None for planes that a plan refuses."""
    kind, given_ = entry
    x = pool.reals[: pool.samples]
    if kind == PYTHON:
        return opaque(lambda: np.add(x, 1, out=x), reads={"x": x}, writes={"x": x})
    if kind == REDUCE:
        return reduction(pool, *given_)
    if kind == COPY:
        dtype, shape = COPIED[given_[0] % len(COPIED)]
        planes = pool.planes(dtype, shape, pool.samples)
        src, into = planes[given_[1] % len(planes)], planes[given_[2] % len(planes)]
        return None if np.shares_memory(src, into) else eagle.copy(src, into=into)
    if kind == LOOP:
        steps = tuple(one for one in (item(pool, entry) for entry in given_) if one is not None)
        on = np.ones(1, np.int32)
        return eagle.repeat_while(tuple(one.launch for one in steps), eagle.SkipGuard.nonzero(on), 2) if steps else None
    plan = graph_kernels.plans()[kind]
    try:
        return plan.bind(**pool.wiring(plan, given_))
    except eagle.PlaneError:
        return None


def reduction(pool: PlanePool, number: int, plane: int, out: int, half: int) -> Node[Any] | None:
    """The reduction of a plane or of a row of one, in part of every second element, into one of a few places."""
    op, dtype = REDUCED[number % len(REDUCED)]
    planes = pool.planes(dtype, (), pool.samples if half % 4 else pool.samples // 2)
    planes += [row for one in pool.planes(dtype, (3,), pool.samples) for row in one] if dtype == "float64" else []
    x, places = planes[plane % len(planes)], pool.planes(dtype, (), 1 + len(pool.bytes))[0][-8:]
    x = x[::2] if half == 1 else x
    place = places[out % 8 :][:1]
    return (
        eagle.reduce(x, place, op) if (x.size or op not in ("max", "min")) and not np.shares_memory(x, place) else None
    )


def graph(pool: PlanePool, program: list[Any], *, groups: bool) -> eagle.Graph:
    g = eagle.Graph()
    for stage in program:
        branches = [[one for one in (item(pool, entry) for entry in branch) if one is not None] for branch in stage]
        branches = [branch for branch in branches if branch]
        if groups and len(branches) > 1:
            g.add_group(branches)
            continue
        for one in (one for branch in branches for one in branch):
            g.add_node(one) if isinstance(one, Node) else g.add(one)
    return g


def outcome(program: list[Any], seed: int, samples: int, *, groups: bool, fuse: bool = True) -> tuple[Any, ...]:
    """What a launch leaves in memory, and what it raises."""
    pool = PlanePool(seed, samples)
    g = graph(pool, program, groups=groups)
    if not g.num_nodes():
        return ()
    g.build(fuse=fuse)
    if fuse:
        event("fused" if "fused kernel" in g.fusion() else "not fused")
        if any("reduce" in line and "one fused kernel" in line for line in g.fusion().splitlines()):
            event("a reduction is fused")
        event("tiled" if "tile by tile" in g.fusion() else "not tiled")
    raised: tuple[Any, ...] = ()
    try:
        with np.errstate(all="ignore"):
            g.launch(2)
    except (IndexError, ZeroDivisionError, OverflowError) as error:
        raised = type(error), str(error), error.__notes__
    return pool.state(), raised


def check(program: list[Any], seed: int, samples: int, patches: list[Callable[[], Any]], threads: int) -> None:
    groups = True
    team.set_team_size(1)
    try:
        expected = outcome(program, seed, samples, groups=True, fuse=False)
    except eagle.RaceError:
        groups = False
        expected = outcome(program, seed, samples, groups=False, fuse=False)
    team.set_team_size(threads)
    with ExitStack() as stack:
        for one in patches:
            stack.enter_context(one())
        assert outcome(program, seed, samples, groups=groups) == expected


@pytest.mark.property
@given(
    programs,
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 7, 64, 65, 130, 300, 5000, 9000]),
    st.integers(1, 8),
    st.sampled_from([pieces.LARGEST, 40, 0]),
    st.booleans(),
)
def test_fused_tiled_and_spread_graphs_give_the_bits_of_node_by_node(
    program: list[Any], seed: int, samples: int, threads: int, largest: int, tiny: bool
) -> None:
    patches: list[Callable[[], Any]] = [lambda: patch.object(pieces, "LARGEST", largest)]
    if not largest:
        patches.append(lambda: patch.object(pieces, "COMPILED", 0))
    if tiny:  # the smallest tiles, and samples that pass for long enough to wake every thread
        patches.append(lambda: patch.object(joining, "_LEAST_TILE", 1))
        patches.append(lambda: patch.object(joining, "_TILE_BYTES", 1))
        patches.append(lambda: patch.object(launching, "cost_of", lambda code: 1e5))
        patches.append(lambda: patch.object(pieces, "_THROUGH_MEMORY_NS", 1e5))
    check(program, seed, samples, patches, threads)


@pytest.mark.property
@given(
    rows_with_reductions,
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 63, 64, 65, 300, 4096, 4097, 9000, 20_000]),
    st.integers(1, 8),
    st.sampled_from([pieces.LARGEST, 40]),
    st.booleans(),
)
def test_reductions_fused_into_rows_of_kernels_give_the_bits_of_node_by_node(
    program: list[Any], seed: int, samples: int, threads: int, largest: int, dear: bool
) -> None:
    patches: list[Callable[[], Any]] = [lambda: patch.object(pieces, "LARGEST", largest)]
    if dear:  # every block is worth a thread
        patches.append(lambda: patch.object(pieces, "_THROUGH_MEMORY_NS", 1e5))
        patches.append(lambda: patch.object(alignment, "_FEW_CUTS", 0))
    check(program, seed, samples, patches, threads)
