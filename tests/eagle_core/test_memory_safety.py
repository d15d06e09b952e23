"""No resize, wherever it happens and however it hides, makes native code touch bytes outside the planes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.graph import opaque
from eagle.plugin import ArrayAdapter, Framework, Memory, hookimpl
from eagle.testing import registered

BIG = 1 << 20
VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "slice": lambda x: x[: BIG // 2],
    "slice of a slice": lambda x: x[1:][: BIG // 2],
    "as_strided": lambda x: np.lib.stride_tricks.as_strided(x, (BIG // 2,), (16,)),
    "memoryview": lambda x: np.asarray(memoryview(x))[  # type: ignore[arg-type]
        : BIG // 2
    ],
    "sliding window": lambda x: np.lib.stride_tricks.sliding_window_view(x, BIG // 2)[0],
    "subclass": lambda x: x.view(np.recarray)[: BIG // 2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_an_array_resized_under_any_view_of_it_is_refused(view: Callable[[np.ndarray], np.ndarray]) -> None:
    x, y = np.zeros(BIG), np.zeros(BIG // 2)
    g = eagle.Graph().add_node(eagle.copy(view(x), into=y), name="n").build().launch()
    x.resize(1, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'src': the array moved or was resized"):
        g.launch()


@pytest.mark.parametrize("make", [lambda x, y: eagle.copy(x, into=y), lambda x, y: eagle.reduce(x, y[:1])])
def test_an_array_resized_by_a_node_of_the_same_launch_is_refused(make: Any) -> None:
    x, y = np.zeros(BIG), np.zeros(BIG // 2)
    g = eagle.Graph().add_node(opaque(lambda: x.resize(1, refcheck=False)))
    g.add_node(eagle.skippable(make(x[: BIG // 2], y), eagle.SkipGuard.nonzero(np.ones(1))), name="n")
    g.build()
    with pytest.raises(eagle.PlaneError, match="the array moved or was resized"):
        g.launch()


def test_a_guards_array_that_shrank_is_a_plane_error() -> None:
    flag = np.ones(4)
    step = eagle.skippable(lambda: None, eagle.SkipGuard(flag, 3))
    g = eagle.Graph().add_node(step, name="n").build()
    flag.resize(2, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="no element 3 any more"):
        g.launch()


class Elsewhere:
    """An array in host memory whose addresses are offsets into something."""


class ElsewhereArrays(ArrayAdapter):
    def claims(self, array: object, /) -> bool:
        return isinstance(array, Elsewhere)

    def describe(self, array: object, /) -> Memory:
        return Memory(
            device=("cpu", 0),
            address=64,
            shape=(4,),
            strides=(8,),
            itemsize=8,
            dtype="float64",
            space=("mine", id(array)),
        )


@hookimpl
def register_framework() -> Framework:
    return Framework(name="elsewhere", needs="numpy", arrays=ElsewhereArrays())


def test_an_offset_is_never_taken_for_an_address() -> None:
    module: Any = SimpleNamespace(
        __name__="elsewhere.hooks", EAGLE_CONTRACT=(1, 0), register_framework=register_framework
    )
    with registered(module):
        g = eagle.Graph().add_node(eagle.copy(Elsewhere(), into=np.zeros(4)), name="n")
        with pytest.raises(eagle.BuildError, match=r"node 'n', plane 'src': it is in .*'mine'.* memory"):
            g.build()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0,)])
def test_nothing_is_copied_into_nothing(shape: tuple[int, ...]) -> None:
    eagle.Graph().add_node(eagle.copy(np.zeros(shape), into=np.zeros(shape))).build().launch()


def test_elements_that_interleave_without_touching_may_be_written() -> None:
    base = np.zeros(12)
    woven = np.lib.stride_tricks.as_strided(base, (3, 2), (16, 24))  # 0, 3, 2, 5, 4, 7
    eagle.Graph().add_node(eagle.copy(np.arange(6.0).reshape(3, 2), into=woven)).build().launch()
    assert base[:8].tolist() == [0, 0, 2, 1, 4, 3, 0, 5]


def test_a_structure_is_copied_only_into_the_same_structure() -> None:
    src = np.ones(3, [("a", "f4"), ("b", "f4")])
    with pytest.raises(eagle.PlaneError, match="one shape and dtype"):
        eagle.Graph().add_node(eagle.copy(src, into=np.zeros(3, [("x", "i8")])))
    into = np.zeros_like(src)
    eagle.Graph().add_node(eagle.copy(src, into=into)).build().launch()
    np.testing.assert_array_equal(into, src)
