"""Random graphs of kernels leave the same bits, and raise the same fault, however they are joined, cut and spread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from kernel_graphs import graph, programs_of, rows_with_reductions
from plane_pool import PlanePool

import eagle
from eagle_cpu import launching, team
from eagle_cpu.fusion import alignment, joining, pieces


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    before = team.team_size()
    yield
    team.set_team_size(before)


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
    programs_of(),
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
