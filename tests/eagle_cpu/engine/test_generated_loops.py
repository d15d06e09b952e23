"""Loops of random programs give what the evaluator gives, one sample and one step at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from engine_programs import Case, cases, kernels
from engine_running import assert_same, call, pieces
from hypothesis import given
from hypothesis import strategies as st
from loop_reference import reference

from eagle.plugin import Kernel
from eagle_cpu.engine import program_for
from eagle_cpu.engine.vector_math import functions
from eagle_ir import Function

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
WIDTHS = st.sampled_from([None, 4, 8, 16, 32, 64])


def check_loop(
    kernel: Kernel,
    case: Case,
    width: int | None,
    cut: int,
    backwards: bool,
    max_steps: int,
    watch: bool,
    call: Callable[[int, int, list[tuple[int, int]]], list[int]] = call,
) -> None:
    """Run a loop over ranges by `call`, and by the evaluator."""
    function = kernel.code
    assert isinstance(function, Function)
    ours, theirs = case.copy(), case.copy()
    marks = [np.zeros(case.samples, bool) for _ in range(2)] if watch else [None, None]
    with np.errstate(all="ignore"):
        steps, fault = reference(function, theirs, max_steps, marks[0], functions())
    program = program_for(kernel, lanes=width)
    assert program.loop_entry is not None
    arguments = program.arguments(ours.arrays, case.params, case.samples)
    taken = np.full(case.samples, 3, np.int64)
    arguments.set_loop(max_steps=max_steps, steps=taken, failed=marks[1])
    codes = call(program.loop_entry, arguments.address, pieces(case.samples, cut * program.grain, backwards=backwards))
    assert arguments.fault == fault
    assert max(codes) == (fault is not None)
    assert_same(ours.arrays, theirs.arrays)
    assert np.array_equal(taken, steps + 3)
    assert arguments.longest == steps.max(initial=0)
    ended = theirs.arrays["done"] | (marks[0] if marks[0] is not None else False)
    assert arguments.unfinished == np.count_nonzero(~ended)
    if watch:
        assert np.array_equal(marks[0], marks[1])  # type: ignore[arg-type]


@pytest.mark.property(minutes=8)
@given(
    kernels(mask="rw"),
    cases(mask="rw", most=80),
    WIDTHS,
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([0, 1, 2, 5, 17, 40]),
    st.booleans(),
)
def test_loops_equal_samples_run_one_by_one(
    kernel: Kernel, case: Case, width: int | None, cut: int, backwards: bool, max_steps: int, watch: bool
) -> None:
    check_loop(kernel, case, width, cut, backwards, max_steps, watch)
