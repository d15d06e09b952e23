"""Reductions compiled into a chain give the documented bits, for every vector width, length and order of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_running import call
from hypothesis import given, settings
from hypothesis import strategies as st
from reduction_oracle import reduced, same

from eagle.plugin import Argument, Kernel
from eagle_cpu._native import REDUCTION_BLOCK, Reduction
from eagle_cpu.engine import program_for
from eagle_cpu.engine.chain import Part, chain_kernel, param_name, row_name
from eagle_cpu.engine.tally import TallyPart
from eagle_ir import Builder, to_kernel

NUMBERS = ("float64", "float32", "int64", "int32")
CASES = [(op, dtype) for op in ("sum", "max", "min") for dtype in NUMBERS] + [("all", "bool"), ("any", "bool")]
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308]
LENGTHS = [1, 3, 63, 64, 65, 1000, 4095, 4096, 4097, 8192, 12_345]


def mirror(dtype: str) -> Kernel:
    """``y = -x``, or ``not x``."""
    arguments = [
        Argument(name=name, role="sample", mode=mode, dtype=dtype)  # type: ignore[arg-type]
        for name, mode in (("x", "r"), ("y", "w"))
    ]
    builder = Builder("mirror", arguments)
    builder.store("y", builder.compute("not" if dtype == "bool" else "neg", builder.load("x")))
    return to_kernel(builder.finish())


def mirrored(x: np.ndarray) -> np.ndarray:
    return ~x if x.dtype == bool else -x


def run_chain(parts: list[Part], arrays: list[np.ndarray], tallied: dict[int, Any], lanes: int, seed: int) -> None:
    """Run a chain of which the part of each number in `tallied` is a reduction; its blocks come in a random order."""
    program = program_for(chain_kernel(parts), lanes=lanes)
    params = {
        param_name(number, name): value
        for number, one in tallied.items()
        for name, value in (("state", one.args), ("take", one.take))
    }
    count = arrays[0].size
    arguments = program.arguments({row_name(n): one for n, one in enumerate(arrays)}, params, count)
    starts = np.random.default_rng(seed).permutation(np.arange(0, count, REDUCTION_BLOCK))
    ranges = [(int(start), min(int(start) + REDUCTION_BLOCK, count)) for start in starts]
    assert not any(call(program.launch_entry, arguments.address, ranges))


@st.composite
def planes(draw: st.DrawFn, dtype: str) -> np.ndarray:
    size, rng = draw(st.sampled_from(LENGTHS)), np.random.default_rng(draw(st.integers(0, 10**6)))
    if dtype == "bool":
        share = draw(st.sampled_from([0.0, 1e-3, 0.5, 1 - 1e-3, 1.0]))
        return np.asarray(rng.random(size) < share)
    if dtype.startswith("int"):
        limits = np.iinfo(dtype)
        return np.asarray(rng.integers(limits.min, limits.max, size, dtype, endpoint=True))
    with np.errstate(over="ignore", under="ignore"):
        x: np.ndarray = (rng.standard_normal(size) * 10.0 ** rng.integers(-12, 12, size)).astype(dtype)
        x = np.copysign(x, draw(st.sampled_from([-1.0, 1.0]))) if draw(st.booleans()) else x
        for value in draw(st.lists(st.sampled_from(SPECIAL), max_size=3)):
            x[draw(st.integers(0, size - 1)) :: draw(st.sampled_from([1, 64, size]))] = value
    return np.asarray(x, dtype)


@pytest.mark.property
@settings(max_examples=settings().max_examples // 2)
@pytest.mark.parametrize(("op", "dtype"), CASES)
@given(st.data(), st.sampled_from([4, 8, 16, 32, 64]), st.integers(0, 99))
def test_a_tally_gives_the_documented_bits(op: str, dtype: str, data: st.DataObject, lanes: int, seed: int) -> None:
    x = data.draw(planes(dtype))
    y, before, after = np.zeros_like(x), np.zeros(1, dtype), np.zeros(1, dtype)
    tallied = {
        number: Reduction(op, dtype, one.ctypes.data, one.itemsize, one.size, out.ctypes.data)
        for number, one, out in ((0, x, before), (2, y, after))
    }
    parts: list[Part] = [TallyPart(op, dtype, 0), (mirror(dtype), {"x": [0], "y": [1]}), TallyPart(op, dtype, 1)]
    with np.errstate(all="ignore"):
        for again in range(2):  # nothing is left over from the run before
            run_chain(parts, [x, y], tallied, lanes, seed + again)
            assert same(before[0], reduced(x, op))
            assert same(after[0], reduced(mirrored(x), op))


def test_a_tally_takes_what_the_row_holds_at_its_place_though_memory_never_does() -> None:
    x, out = np.linspace(-1.0, 2.0, 5000), np.zeros(3)
    expected = [reduced(one, "max") for one in (x, -x, x)]
    tallied = {
        number: Reduction("max", "float64", x.ctypes.data, 8, x.size, out[place:].ctypes.data)
        for place, number in enumerate((0, 2, 4))
    }
    turn = (mirror("float64"), {"x": [0], "y": [0]})
    tally = TallyPart("max", "float64", 0)
    run_chain([tally, turn, tally, turn, tally], [x], tallied, 16, 0)
    assert out.tolist() == expected


def test_bytes_that_are_neither_0_nor_1_are_true() -> None:
    x, y, out = np.array([2, 4, 128] * 50, np.uint8).view(bool), np.zeros(150, bool), np.zeros(1, bool)
    tallied = {0: Reduction("all", "bool", x.ctypes.data, 1, x.size, out.ctypes.data)}
    run_chain([TallyPart("all", "bool", 0), (mirror("bool"), {"x": [0], "y": [1]})], [x, y], tallied, 16, 0)
    assert out[0]
