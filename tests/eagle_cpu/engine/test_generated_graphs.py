"""Graphs of generated kernels leave the same bits, and raise the same fault, fused or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from engine_programs import PARAMS, column, kernels
from engine_running import assert_same
from hypothesis import event, given, settings
from hypothesis import strategies as st
from test_chains import PLANES, inside, planes, wirings

import eagle
from eagle import Plan
from eagle.plugin import Kernel
from eagle_cpu import launching, team
from eagle_cpu.fusion import joining, pieces
from eagle_ir import Type

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
rows = st.lists(
    st.tuples(st.sampled_from([None, None, "rw"]), st.sampled_from([False, False, True])).flatmap(
        lambda how: kernels(mask=how[0], faulting=how[1])
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    before = team.team_size()
    yield
    team.set_team_size(before)


class Front:
    """What `deploy` takes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __eagle_kernel__(self, scalar: str = "float64") -> Kernel:
        return self.kernel


def launched(
    plans: list[Plan], wired: list[dict[str, int]], params: list[dict[str, Any]], seed: int, samples: int, *, fuse: bool
) -> tuple[dict[str, np.ndarray], tuple[Any, ...]]:
    """What two launches of the plans in a row leave, and what they raise."""
    rng = np.random.default_rng(seed)
    wholes = planes(rng, samples)
    line = next(inside(whole) for whole, (type_, shape) in zip(wholes, PLANES, strict=True) if type_ is Type.F64)
    tables = {"line": line, "grid": column(rng, Type.I64, (3, 4)), "flags": column(rng, Type.BOOL, (5,))}
    g = eagle.Graph()
    for plan, planes_of, numbers in zip(plans, wired, params, strict=True):
        bound = {name: inside(wholes[number]) for name, number in planes_of.items()} | tables | numbers
        try:
            g.add(plan.bind(**bound))
        except eagle.PlaneError:  # it writes its own table
            g.add(plan.bind(**bound | {"line": np.array([1.5, -2.0])}))
    g.build(fuse=fuse)
    if fuse:
        event("fused" if "fused kernel" in g.fusion() else "not fused")
    raised: tuple[Any, ...] = ()
    try:
        g.launch(2)
    except (IndexError, ZeroDivisionError, OverflowError) as error:
        raised = type(error), str(error), error.__notes__
    return {str(number): whole for number, whole in enumerate(wholes)}, raised


@pytest.mark.property
@settings(max_examples=settings().max_examples // 12)  # each compiles for a tenth of a second
@given(st.data(), rows, st.sampled_from([1, 40, 65, 200]), st.integers(1, 8), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_row_of_generated_kernels_gives_the_bits_of_node_by_node(
    data: st.DataObject, row: list[Kernel], samples: int, threads: int, tiny: bool, seed: int
) -> None:
    wired = [data.draw(wirings(kernel)) for kernel in row]
    rng = np.random.default_rng(seed)
    params = [{name: column(rng, type_, (1,))[0].item() for name, type_ in PARAMS.items()} for _ in row]
    plans = [eagle.deploy(Front(kernel)) for kernel in row]
    team.set_team_size(1)
    expected, wanted = launched(plans, wired, params, seed, samples, fuse=False)
    team.set_team_size(threads)
    with ExitStack() as stack:
        if tiny:
            stack.enter_context(patch.object(joining, "_LEAST_TILE", 1))
            stack.enter_context(patch.object(joining, "_TILE_BYTES", 1))
            stack.enter_context(patch.object(launching, "cost_of", lambda code: 1e5))
            stack.enter_context(patch.object(pieces, "_THROUGH_MEMORY_NS", 1e5))
        left, raised = launched(plans, wired, params, seed, samples, fuse=True)
    assert raised == wanted
    assert_same(left, expected)
