"""Native reductions give the documented bits for every dtype, stride, length, width and number of threads."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduction_oracle import reduced, same

import eagle
from eagle_cpu._native import REDUCTION_BLOCK, REDUCTION_WIDTHS, Reduction
from eagle_cpu.team import run, set_team_size, team_size

NUMBERS = ("float64", "float32", "int64", "int32")
CASES = [(op, dtype) for op in ("sum", "max", "min") for dtype in NUMBERS] + [("all", "bool"), ("any", "bool")]
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e308, 1e308]
LENGTHS = sorted({near + by for near in (64, 128, 4096, 8192, 3 * 4096) for by in (-1, 0, 1, 63)} | {1, 2, 33, 1000})
DEAR = 1e5  # nanoseconds an element: every thread is worth waking


@pytest.fixture(autouse=True)
def team() -> Iterator[None]:
    size = team_size()
    yield
    set_team_size(size)


def by_eagle(x: np.ndarray, op: str, width: int = 0, cost: float = 1.0) -> Any:
    """Reduce on the team without a graph, which takes one width only."""
    out = np.full(1, 3, x.dtype)
    made = Reduction(op, str(x.dtype), x.ctypes.data, x.strides[0], x.size, out.ctypes.data, width)
    for _ in range(2):  # nothing is left over from the run before
        assert run(made.entry, made.args, max(x.size, 1), REDUCTION_BLOCK, cost_ns=cost) == 0
    return out[0]


def numbers(dtype: str, size: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(random.random(size) < random.choice([0.0, 0.5, 1.0, 1e-4]))
    if dtype.startswith("int"):
        limits = np.iinfo(dtype)
        return np.asarray(random.integers(limits.min, limits.max, size, dtype, endpoint=True))
    x: np.ndarray = (random.standard_normal(size) * 10.0 ** random.integers(-12, 12, size)).astype(dtype)
    if seed % 3:
        x = np.copysign(x, 1.0 if seed % 3 == 1 else -1.0)  # of one sign, so that zeros decide
    return x


@st.composite
def planes(draw: st.DrawFn) -> tuple[str, np.ndarray]:
    """A plane of any stride, at any address a multiple of its element's size, with special numbers anywhere."""
    op, dtype = draw(st.sampled_from(CASES))
    size = draw(st.one_of(st.sampled_from(LENGTHS), st.integers(1, 20_000)))
    step = draw(st.sampled_from([1, 1, 1, -1, 2, -3, 7, 64]))
    offset = draw(st.integers(0, 9))
    base = np.zeros(offset + size * abs(step), dtype)
    x = base[offset :: abs(step)][:size]
    x[:] = numbers(dtype, size, draw(st.integers(0, 10**6)))
    if dtype.startswith("float"):
        with np.errstate(over="ignore", under="ignore"):
            special = np.array(SPECIAL).astype(dtype)
        for value in draw(st.lists(st.sampled_from(range(len(special))), max_size=4)):
            x[draw(st.integers(0, size - 1)) :: draw(st.sampled_from([1, 64, 4096, size]))] = special[value]
    elif dtype == "bool" and draw(st.booleans()):
        x[:] = op == "all"
        x[draw(st.integers(0, size - 1))] ^= draw(st.booleans())
    return op, x[::-1] if step < 0 else x


@pytest.mark.property
@given(planes(), st.sampled_from(REDUCTION_WIDTHS), st.integers(1, 8), st.sampled_from([1.0, DEAR]))
def test_the_bits_are_the_documented_ones(case: Any, width: int, threads: int, cost: float) -> None:
    op, x = case
    set_team_size(threads)
    result, expected = by_eagle(x, op, width, cost), reduced(x, op)
    assert same(result, expected), (op, x.dtype, x.size, x.strides, width, threads, result, expected)


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_a_graph_gives_the_same_bits_for_every_number_of_threads(op: str, dtype: str) -> None:
    x, out = numbers(dtype, 1_000_003, 2), np.zeros((), dtype)
    g = eagle.Graph().add_node(eagle.reduce(x, out, op)).build()
    expected = reduced(x, op)
    for threads in (1, 2, 3, 8):
        set_team_size(threads)
        out[...] = 0
        g.launch(2)
        assert same(out[()], expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", REDUCTION_WIDTHS)
def test_infinities_of_both_signs_and_sums_beyond_all_numbers_are_no_nan(dtype: str, width: int) -> None:
    for size in (2, 64, 4100, 20_000):
        x = np.full(size, np.finfo(dtype).max)
        x[::2] = -x[::2]
        assert (by_eagle(x, "max", width), by_eagle(x, "min", width)) == (x.max(), x.min())
        x[0], x[-1] = np.inf, -np.inf
        assert (by_eagle(x, "max", width), by_eagle(x, "min", width)) == (np.inf, -np.inf)
        x[size // 2] = np.nan
        assert np.isnan(by_eagle(x, "max", width))
        assert np.isnan(by_eagle(x, "min", width))


def test_a_plane_of_more_blocks_than_a_block_has_elements() -> None:
    x = numbers("float32", 4096 * 4097 + 5, 2)
    assert same(by_eagle(x, "sum"), reduced(x, "sum"))
    assert same(by_eagle(x, "min"), reduced(x, "min"))


@pytest.mark.parametrize("stride", [0, 16])
def test_a_stride_of_nothing_counts_one_element_again_and_again(stride: int) -> None:
    x = np.lib.stride_tricks.as_strided(np.full(20_000, 0.1), (10_000,), (stride,))
    assert same(by_eagle(x, "sum"), reduced(x, "sum"))


@pytest.mark.parametrize(("op", "expected"), [("all", True), ("any", True)])
def test_bytes_that_are_neither_0_nor_1_are_true(op: str, expected: bool) -> None:
    x = np.array([2, 4, 128] * 50, np.uint8).view(bool)
    out = np.zeros(1, bool)
    eagle.Graph().add_node(eagle.reduce(x, out, op)).build().launch()
    assert out.view(np.uint8)[0] == expected


@pytest.mark.parametrize("op", ["sum", "all"])
def test_an_interrupted_run_leaves_nothing_behind_for_the_next(op: str) -> None:
    x = np.ones(8_000_000, bool if op == "all" else np.float64)
    out = np.zeros(1, x.dtype)
    g = eagle.Graph().add_node(eagle.reduce(x, out, op)).build().launch()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        g.launch(1_000_000)
    timer.join()
    x[-1], x[:-1] = 0, x[:-1] * 2  # other results in every block, the last one's counting most
    out[:] = op == "all"
    g.launch()
    assert out[0] == reduced(x, op)


def test_code_there_is_none_for_is_refused() -> None:
    with pytest.raises(ValueError, match="no code for the sum of bool"):
        Reduction("sum", "bool", 0, 1, 0, 0)
    with pytest.raises(ValueError, match="vectors of 7 bytes"):
        Reduction("sum", "float64", 0, 8, 0, 0, 7)
    with pytest.raises(ValueError, match="count is -1"):
        Reduction("sum", "float64", 0, 8, -1, 0)
