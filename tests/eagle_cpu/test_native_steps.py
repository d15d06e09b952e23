"""Native steps: compiled code of a stranger's kind, on the team."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.graph import opaque
from eagle.plugin import Access, Lowering, Node, NodeKind, register

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


def native_kind(name: str, x: np.ndarray, code: int = 0, check: Callable[[], None] | None = None) -> Node[Any]:
    """A node that adds one to every element of `x`, by code that ctypes makes."""

    @ENTRY  # type: ignore[untyped-decorator]
    def entry(args: int, begin: int, end: int, run: int) -> int:
        x[begin:end] += 1
        return code

    def lower(placed: Any, context: Any) -> Any:
        context.keep(entry)
        address = ctypes.cast(entry, ctypes.c_void_p).value
        step = context.native(address, 0, samples=len(x), grain=8)
        if check is not None:
            context.after_run(check)
        return step

    register(
        NodeKind(name=name, access=lambda node: [Access(name="x", array=x, mode="rw", axis=0)], complete_access=True),
        Lowering(kind=name, backend="cpu", lower=lower),
    )
    return Node(name, None)


@pytest.mark.parametrize("samples", [0, 1, 100_000])
def test_native_code_runs_over_every_sample_once(samples: int) -> None:
    x = np.zeros(samples)
    eagle.Graph().add_node(native_kind(f"native {samples}", x)).build().launch(3)
    assert (x == 3).all()


def test_a_positive_code_is_a_runtime_error_that_names_the_node() -> None:
    x = np.zeros(10)
    g = eagle.Graph().add_node(native_kind("native that fails", x, code=5), name="n").build()
    with pytest.raises(RuntimeError, match="node 'n' failed with code 5"):
        g.launch()
    assert (x == 1).all()


def test_a_check_after_the_run_raises_what_the_code_recorded() -> None:
    def check() -> None:
        raise LookupError("recorded")

    g = eagle.Graph().add_node(native_kind("native with a check", np.zeros(10), code=5, check=check), name="n").build()
    with pytest.raises(LookupError, match="recorded"):
        g.launch()


def test_the_context_says_how_large_the_team_is() -> None:
    seen: list[int] = []

    def lower(placed: Any, context: Any) -> Callable[[], None]:
        seen.append(context.team)
        return lambda: None

    register(
        NodeKind(name="asks for the team", access=lambda node: ()),
        Lowering(kind="asks for the team", backend="cpu", lower=lower),
    )
    eagle.Graph().add_node(Node("asks for the team", None)).build()
    assert seen[0] >= 1


def test_planes_of_native_steps_are_checked_before_every_launch() -> None:
    x = np.zeros(10)
    node = native_kind("native that is watched", x)
    g = eagle.Graph().add_node(opaque(lambda: None)).add_node(node, name="n").build().launch()
    with pytest.raises(ValueError, match=r"refcheck|resize"):
        x.resize(5)
    x.resize(5, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'x'"):
        g.launch()
