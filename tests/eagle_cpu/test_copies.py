"""Copies on the CPU: native steps, byte for byte, any strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import kernels
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle_cpu import launching, team

DTYPES = ["bool", "float16", "int32", "float64", "complex128", "V3"]
bump = eagle.deploy(kernels.bump)
Array = np.ndarray[Any, np.dtype[Any]]
Layout = Callable[[int], Array]


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    before = team.team_size()
    yield
    team.set_team_size(before)


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> Layout:
    """Make arrays of a shape whose axes lie in one order, at some distance, in some direction."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in shape]

    def made(seed: int) -> Array:
        room = [shape[axis] * abs(steps[axis]) for axis in order]
        content = np.random.default_rng(seed).bytes(int(np.prod(room)) * np.dtype(dtype).itemsize)
        array = np.frombuffer(bytearray(content), dtype).reshape(room)
        slices: list[Any] = [slice(None, None, steps[axis]) for axis in order]
        return array[(*slices, ...)].transpose(np.argsort(order).tolist())

    return made


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Layout, Layout]:
    shape = tuple(draw(st.lists(st.integers(0, 7), max_size=4)))
    dtype = draw(st.sampled_from(DTYPES))
    return draw(layouts(shape, dtype)), draw(layouts(shape, dtype))


def everything(view: Array) -> bytes:
    """The bytes of all the memory a view is of."""
    while isinstance(view.base, np.ndarray):
        view = view.base
    return view.tobytes()


@pytest.mark.property
@given(pairs(), st.integers(1, 4))
def test_every_element_arrives_and_nothing_else_changes(pair: tuple[Layout, Layout], threads: int) -> None:
    src, into, expected = pair[0](1), pair[1](2), pair[1](2)
    expected[...] = src
    team.set_team_size(threads)
    eagle.Graph().add_node(eagle.copy(src, into=into)).build().launch()
    assert everything(into) == everything(expected)
    assert everything(src) == everything(pair[0](1))


@pytest.mark.parametrize("shape", [(300_000,), (3, 100_000), (100_000, 3), (70, 60, 80)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_copy_is_spread_over_threads(shape: tuple[int, ...], order: Any) -> None:
    team.set_team_size(3)
    src = np.random.default_rng(0).random(shape)
    into = np.zeros(shape, order=order)
    eagle.Graph().add_node(eagle.copy(src, into=into)).build().launch(2)
    np.testing.assert_array_equal(into, src)


def test_a_copy_leaves_the_native_call_whole_and_joins_the_tiles() -> None:
    x, y, z = np.zeros(20_000), np.zeros(20_000), np.zeros((2, 10_000))
    g = eagle.Graph().add(bump.bind(x=x)).add_node(eagle.copy(x, into=y)).add(bump.bind(x=x))
    g.add_node(eagle.copy(y.reshape(2, 10_000), into=z)).build().launch(3)
    assert (x == 6).all()
    assert (y == 5).all()
    assert (z == 5).all()
    assert "tile by tile" in g.fusion().splitlines()[0]
    executable: Any = g._executable
    assert len(executable._pieces.calls) == 1


@pytest.mark.parametrize(("samples", "word"), [(4096, "branch_tasks"), (4097, "work_share")])
def test_a_branch_of_copies_counts_their_elements(samples: int, word: str) -> None:
    team.set_team_size(2)
    x, y, src, into = np.zeros(10), np.zeros(10), np.ones((1, samples)), np.zeros((1, samples))
    g = eagle.Graph().add_group([bump.bind(x=x), [eagle.copy(src, into=into), bump.bind(x=y)]]).build().launch()
    assert g.schedule == (word,)
    assert (into == 1).all()
    assert x[0] == y[0] == 1


def test_a_fault_beside_a_copy_is_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching, "cost_of", lambda code: 1e5)  # worth every thread
    team.set_team_size(2)
    a, b, out, copied = (np.ones(100, np.int32) for _ in range(4))
    b[3] = 0
    divide = eagle.deploy(kernels.divide).bind(a=a, b=b, out=out)
    g = eagle.Graph().add_node(eagle.copy(a * 5, into=copied)).add(divide, name="d").build()
    with pytest.raises(ZeroDivisionError, match="sample 3") as raised:
        g.launch()
    assert "node 'd'" in raised.value.__notes__[0]
    assert (copied == 5).all()
