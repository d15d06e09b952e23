"""Random programs of the IR as CUDA C++ leave the bits of the evaluator, launched once or run to each sample's end."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from device_runs import fewer
from engine_programs import Case, cases, kernels
from engine_running import assert_same
from hypothesis import given, note
from hypothesis import strategies as st
from kernel_devices import Run
from loop_reference import reference

from eagle.plugin import Kernel
from eagle_cuda import programs
from eagle_cuda.modules import function_of
from eagle_cuda.writer import LAUNCH, LOOP
from eagle_cuda.writer.entries import _prelude
from eagle_ir import Function
from eagle_ir.evaluate import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
SEEDS = 5
exactly = functools.partial(kernels, transcendental=False)
unmasked = st.lists(exactly(), min_size=2, max_size=3)
masked = st.lists(exactly(mask="r"), min_size=2, max_size=3)
ending = st.lists(exactly(mask="rw"), min_size=2, max_size=3)


@contextmanager
def compiled_together(several: list[Kernel]) -> Iterator[None]:
    """Have kernels compiled as one text, since the compiler takes longest to begin."""
    names: dict[tuple[str, str], str] = {}
    parts = [_prelude()]
    for number, kernel in enumerate(several):
        program = programs.program_for(kernel)
        for entry in (LAUNCH, LOOP) if program.finishes else (LAUNCH,):
            text = program.text(entry)
            names[text, entry] = f"{entry}_{number}"
            alone = text.removeprefix(_prelude())
            assert alone != text
            alone = alone.replace("eagle_step", f"step_{entry}_{number}")
            parts.append(alone.replace(f" {entry}(", f" {entry}_{number}("))
    whole = "\n".join(parts)

    def one_of_them(ordinal: int, text: str, name: str) -> Any:
        return function_of(ordinal, whole, names[text, name])

    with patch.object(programs, "function_of", one_of_them):
        yield


def check(device: Any, kernel: Kernel, case: Case) -> None:
    """Launch a kernel under every seed."""
    assert isinstance(kernel.code, Function)
    theirs = case.copy()
    expected = evaluate(kernel.code, theirs.arrays, case.params, case.samples)
    for seed in range(SEEDS):
        note(f"seed {seed} of {kernel.code.name}")
        device.seed(seed)
        run = Run(kernel, case.arrays, case.params)
        assert run.launch() == expected
        ours = run.arrays
        assert_same(ours, {name: theirs.arrays[name] for name in ours})
        device.run()  # what was freed is gone


@pytest.mark.property(minutes=6)
@fewer()
@given(unmasked, cases())
def test_a_launch_gives_the_evaluators_bits_and_fault(unordered: Any, several: list[Kernel], case: Case) -> None:
    with np.errstate(all="ignore"), compiled_together(several):
        for kernel in several:
            check(unordered, kernel, case)


@pytest.mark.property(minutes=6)
@fewer(2)
@given(masked, cases(mask="r"))
def test_a_launch_leaves_finished_samples_alone(unordered: Any, several: list[Kernel], case: Case) -> None:
    with np.errstate(all="ignore"), compiled_together(several):
        for kernel in several:
            check(unordered, kernel, case)


def check_loop(device: Any, kernel: Kernel, case: Case, max_steps: int, watch: bool) -> None:
    """Run a kernel's samples to their ends under every seed."""
    assert isinstance(kernel.code, Function)
    theirs, failed = case.copy(), np.zeros(case.samples, bool) if watch else None
    taken, expected = reference(kernel.code, theirs, max_steps, failed)
    if failed is not None:
        theirs.arrays["done"] |= failed
    for seed in range(SEEDS):
        note(f"seed {seed}")
        device.seed(seed)
        run, steps = Run(kernel, case.arrays, case.params), np.zeros(case.samples, np.int64)
        assert run.loop(max_steps, steps, watch=watch) == expected
        ours = run.arrays
        assert_same(ours, {name: theirs.arrays[name] for name in ours})
        assert steps.tolist() == taken.tolist()
        assert expected is not None or run.longest == taken.max(initial=0)
        if failed is not None:
            assert run.failed is not None
            assert run.failed.tolist() == failed.tolist()
        device.run()


@pytest.mark.property(minutes=8)
@fewer()
@given(ending, cases(mask="rw", most=80), st.sampled_from([0, 1, 2, 5, 17, 40]), st.booleans())
def test_a_loop_runs_every_sample_as_the_evaluator_does_by_itself(
    unordered: Any, several: list[Kernel], case: Case, max_steps: int, watch: bool
) -> None:
    with np.errstate(all="ignore"), compiled_together(several):
        for kernel in several:
            check_loop(unordered, kernel, case, max_steps, watch)
