"""Native steps: compiled code of a stranger's kind, on the team."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.graph import opaque
from eagle.plugin import Access, Lowering, Node, NodeKind, register
from eagle_cpu import team

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


def test_native_steps_are_branches_and_share_the_team_once_their_cost_is_known() -> None:
    """Nobody says that a sample takes a millisecond: the first launch finds out."""
    threads: list[set[int]] = [set()]

    @ENTRY  # type: ignore[untyped-decorator]
    def entry(args: int, begin: int, end: int, run: int) -> int:
        time.sleep(0.001)
        threads[-1].add(threading.get_ident())
        return 0

    address = ctypes.cast(entry, ctypes.c_void_p).value
    register(
        NodeKind(name="native and slow", access=lambda node: [Access(name="x", array=node.payload, mode="rw", axis=0)]),
        Lowering(kind="native and slow", backend="cpu", lower=lambda placed, context: context.native(address, 0)),
    )
    before = team.team_size()
    team.set_team_size(2)
    try:
        g = eagle.Graph().add_group([Node("native and slow", np.zeros(1)) for _ in range(4)]).build()
        assert g.schedule == ("branch_tasks",)
        for _ in range(100):
            threads.append(set())
            g.launch()
            if len(threads[-1]) == 2:
                break
    finally:
        team.set_team_size(before)
    assert len(threads[1]) == 1
    assert len(threads[-1]) == 2


def test_a_failure_with_a_check_stops_the_launch_before_the_python_node_behind_it() -> None:
    def check() -> None:
        if x[0]:
            raise LookupError("recorded")

    x, later = np.zeros(10), []
    g = eagle.Graph().add_node(native_kind("native that fails early", x, code=5, check=check), name="n")
    g.add_node(opaque(lambda: later.append(1))).build()
    with pytest.raises(LookupError, match="recorded") as raised:
        g.launch(3)
    assert "in node 'n'" in raised.value.__notes__[0]
    assert later == []
    assert (x == 1).all()


def test_a_check_that_belongs_to_another_node_silences_no_failure() -> None:
    failing = native_kind("native that fails unseen", np.zeros(10), code=3)
    checked = native_kind("native with a check of its own", np.zeros(10), check=lambda: None)
    g = eagle.Graph().add_node(failing, name="n").add_node(checked).build()
    with pytest.raises(RuntimeError, match="node 'n' failed with code 3"):
        g.launch()
