"""Random programs whose loops are stopped at any poll: every sample stands at the whole step that is counted."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from engine_programs import Case, cases, kernels
from engine_running import POLL, Run, assert_same, call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loop_reference import one_sample, reference
from test_generated_loops import WIDTHS

from eagle.plugin import Kernel
from eagle_cpu.engine import build, program_for, support
from eagle_cpu.engine.vector_math import functions
from eagle_ir import Function


@pytest.fixture(autouse=True)
def _polls_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that polls after little work, and is kept nowhere."""
    monkeypatch.setattr(support, "TICKS", 3)
    monkeypatch.setattr(build, "fetch", lambda _: None)
    monkeypatch.setattr(build, "keep", lambda *_: None)


@pytest.mark.property(minutes=4)
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    kernels(mask="rw"),
    cases(mask="rw", most=40),
    WIDTHS,
    st.sampled_from([3, 17, 130]),
    st.integers(1, 4),
)
def test_a_stopped_loop_leaves_samples_at_the_step_it_counts(
    kernel: Kernel, case: Case, width: int | None, max_steps: int, polls: int
) -> None:
    assert isinstance(kernel.code, Function)
    flag, seen = ctypes.c_int32(0), []

    def look(run: int) -> None:
        seen.append(run)
        flag.value = int(len(seen) >= polls)

    poll = POLL(look)
    run = Run(ctypes.sizeof(Run), 0, ctypes.pointer(flag), ctypes.cast(poll, ctypes.c_void_p).value)
    ours, steps = case.copy(), np.zeros(case.samples, np.int64)
    program = program_for(kernel, lanes=width)
    assert program.loop_entry is not None
    arguments = program.arguments(ours.arrays, case.params, case.samples)
    arguments.set_loop(max_steps=max_steps, steps=steps)
    (code,) = call(program.loop_entry, arguments.address, [(0, case.samples)], ctypes.addressof(run))
    assert (code == -1) == (len(seen) >= polls)
    for made in np.unique(steps):
        theirs = case.copy()
        with np.errstate(all="ignore"):
            reference(kernel.code, theirs, int(made), None, functions())
        for sample in np.flatnonzero(steps == made).tolist():
            assert_same(one_sample(ours, sample), one_sample(theirs, sample))
