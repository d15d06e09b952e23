"""Kernels compute what the rules for numbers say: front end, evaluator and engine against an oracle of the source."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import Comparison
from kernel_examples import SOURCES
from kernel_ir import SITE, operation, same, sample
from kernel_runs import Run
from random_kernels import Case, kernels, written

from eagle_cpu.engine.vector_math import functions
from eagle_ir import OPERATIONS, Builder, Function, Type, to_kernel
from eagle_ir.evaluate import NUMPY, evaluate

SOME = settings(max_examples=max(settings.default.max_examples // 4, 1))  # type: ignore[union-attr]
scalars = st.sampled_from(["float64", "float32"])
seeds = st.integers(0, 2**32 - 1)
widths = st.sampled_from([None, 4, 8, 16, 32, 64])
lengths = st.sampled_from([0, 1, 3, 7, 20, 33, 70])
cuts = st.lists(st.integers(1, 12), max_size=3)


@pytest.mark.property
@given(kernels(smooth=True), scalars, seeds)
def test_a_kernel_s_ir_computes_what_its_source_says(case: Case, scalar: str, seed: int) -> None:
    compared = Comparison(case, scalar, 6, seed, NUMPY)
    arrays = compared.copy()
    compared.agrees(evaluate(compared.kernel.code, arrays, compared.params, 6, NUMPY), arrays)  # type: ignore[arg-type]


@pytest.mark.property
@given(kernels(smooth=True), scalars, seeds, lengths, widths, cuts)
def test_the_engine_computes_what_the_source_says(
    case: Case, scalar: str, seed: int, samples: int, lanes: int | None, cuts: list[int]
) -> None:
    compared = Comparison(case, scalar, samples, seed, functions())
    run = Run(compared.kernel, compared.start, compared.params, samples, lanes)
    compared.agrees(run.launch(cuts), run.arrays)


@pytest.mark.property
@SOME
@given(
    kernels(masked=True), scalars, seeds, lengths, widths, cuts, st.sampled_from([0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33])
)
def test_a_loop_computes_what_launches_one_after_another_would(
    case: Case, scalar: str, seed: int, samples: int, lanes: int | None, cuts: list[int], max_steps: int
) -> None:
    compared = Comparison(case, scalar, samples, seed, functions())
    expected = compared.loop(max_steps)
    run = Run(compared.kernel, compared.start, compared.params, samples, lanes)
    steps = np.zeros(samples, np.int64)
    compared.agrees(run.loop(max_steps, steps, cuts), run.arrays)
    assert steps[compared.kept].tolist() == expected[compared.kept].tolist()
    assert compared.failures or run.arguments.longest == expected.max(initial=0)


@pytest.mark.parametrize("name", SOURCES)
def test_kernels_written_by_hand_compute_what_they_say(name: str) -> None:
    case = written(SOURCES[name])
    for scalar in ("float64", "float32"):
        compared = Comparison(case, scalar, 50, 0, functions())
        arrays = compared.copy()
        compared.agrees(evaluate(compared.kernel.code, arrays, compared.params, 50, functions()), arrays)  # type: ignore[arg-type]
        for lanes in (None, 4, 64):
            run = Run(compared.kernel, compared.start, compared.params, 50, lanes)
            compared.agrees(run.launch([1, 3]), run.arrays)


LANES = [None, 4, 8, 16, 32, 64]
INTEGERS = [Type.I32, Type.U32, Type.I64]
FLOATS = [Type.F64, Type.F32]
FREE = {
    type_: [op for op, one in OPERATIONS.items() if type_ in one.takes and op not in ("select", "convert")]
    for type_ in Type
}


def specials(type_: Type) -> np.ndarray:
    """Numbers of a type with which operations go wrong."""
    kind: Any = type_.dtype.type
    if type_ is Type.BOOL:
        return np.array([False, True])
    if type_.is_integer:
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        edges = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, -1, -2, -7, -32, low, low + 1, high, high - 1, high // 2]
        return np.array(sorted({one for one in edges if low <= one <= high}), kind)
    limits = np.finfo(kind)
    near = [0.0, 1.0, 1.5, 2.5, 0.5, 7.0, 0.1, 1e-30, 1e30, 2.0**23 + 0.5, 2.0**52 - 0.5, np.inf, float(limits.max)]
    near += [float(limits.tiny), float(limits.smallest_subnormal), 2.0**31, 2.0**32, 2.0**63, 2.0**31 - 0.5]
    return np.array([*near, *(-one for one in near), np.nan], kind)


def several(type_: Type, ops: list[str]) -> Function:
    """All these operations in one function, of three operands at most."""
    planes = [sample(name, type_) for name in "abc"]
    results = {op: Type.BOOL if OPERATIONS[op].gives == "bool" else type_ for op in ops}
    b = Builder("several", [*planes, *(sample(op, result, "w") for op, result in results.items())])
    values = [b.load(name) for name in "abc"]
    for op in ops:
        b.store(op, b.compute(op, *values[: OPERATIONS[op].operands], site=SITE))
    return b.finish()


def agrees(function: Function, arrays: dict[str, np.ndarray], lanes: int | None) -> None:
    """Compare an engine's outputs with the evaluator's; a sample that faults is compared by its fault."""
    samples = len(next(iter(arrays.values())))
    outputs = {one.name: np.zeros(samples, one.dtype) for one in function.arguments if one.mode == "w"}
    expected = arrays | outputs
    faulted = evaluate(function, expected, {}, samples, functions())
    run = Run(to_kernel(function), arrays | outputs, {}, samples, lanes)
    assert run.launch() == faulted
    for name in outputs:
        assert same(run.arrays[name], expected[name]), name


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("type_", list(Type))
def test_operations_that_cannot_fault(type_: Type, lanes: int | None) -> None:
    ops = [
        op for op in FREE[type_] if not (OPERATIONS[op].transcendental or (type_.is_integer and OPERATIONS[op].faults))
    ]
    a, b = np.array(list(product(specials(type_), repeat=2)), type_.dtype).T
    c = np.random.default_rng(0).choice(specials(type_), len(a))
    agrees(several(type_, ops), {"a": a, "b": b, "c": c}, lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("type_", INTEGERS)
@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_division_of_integers(op: str, type_: Type, lanes: int | None) -> None:
    a, b = np.array(list(product(specials(type_), repeat=2)), type_.dtype).T
    function = operation(op, [type_, type_])
    agrees(function, {"x0": a[b != 0], "x1": b[b != 0]}, lanes)
    agrees(function, {"x0": a[::-1].copy(), "x1": b[::-1].copy()}, lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("gives", list(Type))
@pytest.mark.parametrize("type_", list(Type))
def test_conversions(type_: Type, gives: Type, lanes: int | None) -> None:
    a = specials(type_)
    function = operation("convert", [type_], gives)
    good = [
        one for one in a if evaluate(function, {"x0": np.array([one]), "out": np.zeros(1, gives.dtype)}, {}, 1) is None
    ]
    agrees(function, {"x0": np.array(good, type_.dtype)}, lanes)
    agrees(function, {"x0": a}, lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("type_", FLOATS)
def test_transcendentals_give_the_same_bits_in_every_lane(type_: Type, lanes: int | None) -> None:
    ops = [op for op in FREE[type_] if OPERATIONS[op].transcendental]
    a, b = np.array(list(product(specials(type_), repeat=2)), type_.dtype).T
    agrees(several(type_, ops), {"a": a, "b": b, "c": b}, lanes)
