"""Kernels compiled as one leave the bits that they leave one after another."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import pytest
from engine_programs import OUTPUTS, PARAMS, SAMPLE_TYPES, column, kernels
from engine_running import assert_same, call, pieces
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle.plugin import Kernel
from eagle_cpu.engine import program_for
from eagle_cpu.engine.chain import chain_kernel, param_name, row_name
from eagle_cpu.engine.vector_math import functions
from eagle_ir import Function, Type
from eagle_ir.evaluate import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
KINDS = dict.fromkeys(
    [(type_, ()) for type_ in SAMPLE_TYPES.values()] + [(type_, shape) for type_, _, shape in OUTPUTS.values()]
)
PLANES = [kind for kind in KINDS for _ in range(2)]
FIRST_ROW = [0, *accumulate(prod(shape) for _, shape in PLANES)]
MASKS = [number for number, (type_, _) in enumerate(PLANES) if type_ is Type.BOOL]
GUARD = 3
links = st.lists(
    st.sampled_from([None, None, "r", "rw"]).flatmap(lambda mask: kernels(mask=mask, faulting=False)),
    min_size=1,
    max_size=5,
)


@st.composite
def wirings(draw: Any, kernel: Kernel) -> dict[str, int]:
    """A plane for each argument, by number; no two written ones are the same."""
    chosen: dict[str, int] = {}
    taken: set[int] = set()
    for argument in kernel.arguments:
        if argument.role in ("sample", "mask"):
            fits = [
                number
                for number, (type_, shape) in enumerate(PLANES)
                if (type_.value, shape) == (argument.dtype, argument.shape)
                and not (argument.mode != "r" and number in taken)
            ]
            chosen[argument.name] = draw(st.sampled_from(fits))
            taken |= {chosen[argument.name]} if argument.mode != "r" else set()
    return chosen


def planes(rng: np.random.Generator, samples: int) -> list[np.ndarray]:
    """Arrays with other things around each row; bools of any byte."""
    made = []
    for type_, shape in PLANES:
        whole = column(rng, type_, (*shape, samples + 2 * GUARD))
        if type_ is Type.BOOL:
            whole = rng.integers(0, 4, whole.shape).astype(np.uint8).view(bool)
        made.append(whole)
    return made


def row_numbers(plane: int) -> range:
    return range(FIRST_ROW[plane], FIRST_ROW[plane + 1])


def inside(whole: np.ndarray) -> np.ndarray:
    return whole[..., GUARD:-GUARD]


@pytest.mark.property
@settings(max_examples=settings().max_examples // 8)  # each compiles for some 50 ms
@given(
    st.data(), links, st.integers(0, 150), st.sampled_from([4, 16, 64]), st.integers(1, 4), st.integers(0, 2**32 - 1)
)
def test_a_chain_leaves_what_its_kernels_leave(
    data: st.DataObject, kernels_: list[Kernel], samples: int, lanes: int, cut: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    wired = [data.draw(wirings(kernel)) for kernel in kernels_]
    given_params = [{name: column(rng, type_, (1,))[0] for name, type_ in PARAMS.items()} for _ in kernels_]
    ours = planes(rng, samples)
    theirs = [whole.copy() for whole in ours]
    with np.errstate(all="ignore"):
        for kernel, planes_of, params in zip(kernels_, wired, given_params, strict=True):
            assert isinstance(kernel.code, Function)
            arrays = {name: inside(theirs[number]) for name, number in planes_of.items()}
            assert evaluate(kernel.code, arrays, params, samples, functions()) is None
    slots = [{name: row_numbers(plane) for name, plane in planes_of.items()} for planes_of in wired]
    chain = chain_kernel(list(zip(kernels_, slots, strict=True)))
    program = program_for(chain, lanes=lanes)
    arguments = program.arguments(
        {
            row_name(number): row
            for plane, whole in enumerate(ours)
            for number, row in zip(row_numbers(plane), np.atleast_2d(inside(whole)), strict=True)
        },
        {param_name(link, name): value for link, params in enumerate(given_params) for name, value in params.items()},
        samples,
    )
    assert not any(call(program.launch_entry, arguments.address, pieces(samples, cut * lanes)))
    assert_same({str(n): whole for n, whole in enumerate(ours)}, {str(n): whole for n, whole in enumerate(theirs)})
