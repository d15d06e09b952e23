"""Launches of random programs give the bits of the reference evaluator, at any width, cut and alignment."""

from __future__ import annotations

import numpy as np
import pytest
from engine_programs import Case, cases, kernels
from engine_running import assert_same, call, pieces
from hypothesis import given
from hypothesis import strategies as st

from eagle.plugin import Kernel
from eagle_cpu.engine import program_for
from eagle_cpu.engine.vector_math import functions
from eagle_ir import Function
from eagle_ir.evaluate import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
WIDTHS = st.sampled_from([4, 8, 16, 32, 64])


def check(kernel: Kernel, case: Case, width: int, cut: int, backwards: bool) -> None:
    assert isinstance(kernel.code, Function)
    ours, theirs = case.copy(), case.copy()
    expected = evaluate(kernel.code, theirs.arrays, case.params, case.samples, functions())
    program = program_for(kernel, lanes=width)
    assert program.grain == width
    arguments = program.arguments(ours.arrays, case.params, case.samples)
    codes = call(program.launch_entry, arguments.address, pieces(case.samples, cut * width, backwards=backwards))
    assert arguments.fault == expected
    assert max(codes) == (expected is not None)
    assert_same(ours.arrays, theirs.arrays)


@pytest.mark.property(minutes=6)
@given(kernels(), cases(), WIDTHS, st.integers(1, 9), st.booleans())
def test_a_launch_gives_the_evaluators_bits_and_fault(
    kernel: Kernel, case: Case, width: int, cut: int, backwards: bool
) -> None:
    with np.errstate(all="ignore"):
        check(kernel, case, width, cut, backwards)


@pytest.mark.property(minutes=6)
@given(kernels(mask="r"), cases(mask="r"), WIDTHS, st.integers(1, 9), st.booleans())
def test_a_launch_leaves_finished_samples_alone(
    kernel: Kernel, case: Case, width: int, cut: int, backwards: bool
) -> None:
    with np.errstate(all="ignore"):
        check(kernel, case, width, cut, backwards)
