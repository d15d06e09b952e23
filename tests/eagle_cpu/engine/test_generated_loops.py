"""Loops of random programs: streaming lanes give what the evaluator gives, one sample and one step at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_programs import OUTPUTS, Case, cases, kernels
from engine_running import assert_same, call, pieces
from hypothesis import given
from hypothesis import strategies as st

from eagle.plugin import Kernel
from eagle_cpu.engine import program_for
from eagle_cpu.engine.vector_math import functions
from eagle_ir import Function, Store
from eagle_ir.evaluate import Fault, evaluate

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
WIDTHS = st.sampled_from([4, 8, 16, 32, 64])


def one_sample(case: Case, sample: int) -> dict[str, np.ndarray[Any, Any]]:
    """Views of a single sample."""
    tables = ("line", "grid", "flags")
    planes = {name: array for name, array in case.arrays.items() if not name.endswith(".base")}
    return {name: array if name in tables else array[..., sample : sample + 1] for name, array in planes.items()}


def is_finite(function: Function, arrays: dict[str, np.ndarray[Any, Any]]) -> bool:
    written = [one for one in function.body.instructions if isinstance(one, Store) and one.argument in OUTPUTS]
    rows = [
        arrays[one.argument] if arrays[one.argument].ndim == 1 else arrays[one.argument][one.component]
        for one in written
        if OUTPUTS[one.argument][0].is_float
    ]
    return all(bool(np.isfinite(row).all()) for row in rows)


def reference(
    function: Function, case: Case, max_steps: int, failed: np.ndarray[Any, Any] | None
) -> tuple[np.ndarray[Any, Any], Fault | None]:
    """Run every sample by itself; return the steps each took and the fault of the lowest sample."""
    steps, first = np.zeros(case.samples, np.int64), None
    for sample in range(case.samples):
        arrays = one_sample(case, sample)
        while steps[sample] < max_steps and not arrays["done"][0]:
            fault = evaluate(function, arrays, case.params, 1, functions())
            if fault is not None:
                first = first or Fault(sample, fault.error, fault.site, fault.table, fault.index)
                break
            steps[sample] += 1
            if failed is not None and not is_finite(function, arrays):
                failed[sample] = True
                break
    return steps, first


def check_loop(kernel: Kernel, case: Case, width: int, cut: int, backwards: bool, max_steps: int, watch: bool) -> None:
    function = kernel.code
    assert isinstance(function, Function)
    ours, theirs = case.copy(), case.copy()
    marks = [np.zeros(case.samples, bool) for _ in range(2)] if watch else [None, None]
    with np.errstate(all="ignore"):
        steps, fault = reference(function, theirs, max_steps, marks[0])
    program = program_for(kernel, lanes=width)
    assert program.loop_entry is not None
    arguments = program.arguments(ours.arrays, case.params, case.samples)
    taken = np.full(case.samples, 3, np.int64)
    arguments.set_loop(max_steps=max_steps, steps=taken, failed=marks[1])
    codes = call(program.loop_entry, arguments.address, pieces(case.samples, cut * width, backwards=backwards))
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
def test_streaming_lanes_equal_samples_run_one_by_one(
    kernel: Kernel, case: Case, width: int, cut: int, backwards: bool, max_steps: int, watch: bool
) -> None:
    check_loop(kernel, case, width, cut, backwards, max_steps, watch)
