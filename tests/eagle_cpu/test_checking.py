"""``g.check``: nodes that write what they do not declare. ``EAGLE_CHECK=1``: code that reads what it only writes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.graph import opaque
from eagle.plugin import Access, Lowering, Node, NodeKind, register

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


# g.check ----------------------------------------------------------------------------------------------------------


def test_a_graph_that_keeps_to_its_declarations_runs_once_and_says_what_was_not_seen() -> None:
    x, y, total = np.arange(4.0), np.zeros(4), np.zeros(1)
    g = eagle.Graph()
    g.add_node(opaque(lambda: np.add(x, 1, out=y), reads={"x": x}, writes={"y": y})).add_node(eagle.reduce(y, total))
    said = g.build().check()
    assert total[0] == 10
    assert "2 nodes" in said
    assert "What they read is not seen" in said


def test_a_write_that_is_not_declared_is_told_by_node_and_plane() -> None:
    x, y = np.zeros(4), np.zeros(4)

    def work() -> None:
        y[:] = 1
        x[2] += 1

    g = eagle.Graph().add_node(opaque(work, reads={"x": x}, writes={"y": y}), name="sly").build()
    with pytest.raises(eagle.PlaneError, match="node 'sly' wrote plane 'x', which it does not declare") as caught:
        g.check()
    assert isinstance(caught.value.__cause__, ValueError)  # where it ran into the protection
    assert (x == [0, 0, 1, 0]).all()  # once, for all that it ran twice
    assert x.flags.writeable


def test_a_plane_of_another_node_is_watched_too() -> None:
    mine, other = np.zeros(3), np.zeros(3)
    g = eagle.Graph()
    g.add_node(opaque(lambda: other.fill(7), writes={"mine": mine}), name="thief")
    g.add_node(opaque(lambda: None, reads={"other": other}), name="victim")
    with pytest.raises(eagle.PlaneError, match="node 'thief' wrote plane 'other' of node 'victim'"):
        g.build().check()


def test_a_view_made_earlier_escapes_protection_and_not_the_bytes() -> None:
    x = np.zeros(8)
    older = x[2:4]
    g = eagle.Graph().add_node(opaque(lambda: older.fill(1), reads={"x": x}), name="old view").build()
    with pytest.raises(eagle.PlaneError, match="node 'old view' wrote plane 'x'"):
        g.check()


def test_bytes_beside_a_declared_part_of_the_same_plane_are_told() -> None:
    z = np.zeros(8)
    fine = opaque(lambda: z[::2].__iadd__(1), reads={"all": z}, writes={"even": z[::2]})
    eagle.Graph().add_node(fine).build().check()
    wrong = opaque(lambda: z[::3].__iadd__(1), reads={"all": z}, writes={"even": z[::2]})
    with pytest.raises(eagle.PlaneError, match="wrote plane 'all'"):
        eagle.Graph().add_node(wrong).build().check()


def test_every_node_that_strays_is_told_of_and_the_graph_runs_to_its_end() -> None:
    x, done = np.zeros(2), np.zeros(1)
    g = eagle.Graph()
    for name in ("one", "two"):
        g.add_node(opaque(lambda: x.__iadd__(1), reads={"x": x}), name=name)
    g.add_node(opaque(lambda: done.fill(1), writes={"done": done}))
    with pytest.raises(eagle.PlaneError, match=r"'one' wrote.*'two' wrote") as caught:
        g.build().check()
    assert caught.value.nodes == ("one", "two")
    assert (x == 2).all()
    assert done[0] == 1


def test_code_that_refuses_protected_arrays_for_reading_is_no_offender() -> None:
    x, y = np.zeros(4), np.zeros(4)
    calls: list[None] = []

    def work() -> None:
        calls.append(None)
        y[:] += 1
        if not x.flags.writeable:
            raise ValueError("buffer source array is read-only")

    eagle.Graph().add_node(opaque(work, reads={"x": x}, writes={"y": y})).build().check()
    assert len(calls) == 2
    assert (y == 1).all()


def test_an_exception_of_a_node_passes_through_and_lifts_the_protection() -> None:
    x = np.zeros(4)

    def work() -> None:
        raise LookupError("mine")

    g = eagle.Graph().add_node(opaque(work, reads={"x": x}), name="n").build()
    with pytest.raises(LookupError, match="mine") as caught:
        g.check()
    assert any("node 'n'" in note for note in caught.value.__notes__)
    assert x.flags.writeable


def test_memory_numpy_does_not_own_is_not_protected_because_it_could_not_be_undone() -> None:
    class Holder:
        def __init__(self, array: np.ndarray) -> None:
            self.array, self.__array_interface__ = array, array.__array_interface__

    x = np.asarray(Holder(np.zeros(4)))
    g = eagle.Graph().add_node(opaque(lambda: x.fill(2), reads={"x": x}), name="n").build()
    with pytest.raises(eagle.PlaneError, match="node 'n' wrote plane 'x'"):
        g.check()
    assert x.flags.writeable


def test_a_graph_that_is_not_built_is_not_checked() -> None:
    with pytest.raises(eagle.BuildError, match="not built"):
        eagle.Graph().add_node(opaque(lambda: None)).check()


# EAGLE_CHECK ------------------------------------------------------------------------------------------------------


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_CHECK", "1")


def native_node(name: str, planes: dict[str, tuple[np.ndarray, Any]], body: Callable[[int, int], object]) -> Node[Any]:
    """A node of compiled code that ctypes makes of `body`."""

    @ENTRY  # type: ignore[untyped-decorator]
    def entry(args: int, begin: int, end: int, run: int) -> int:
        body(begin, end)
        return 0

    def lower(placed: Any, context: Any) -> Any:
        context.keep(entry)
        return context.native(ctypes.cast(entry, ctypes.c_void_p).value, 0, samples=100)

    accesses = [Access(name=one, array=array, mode=mode, axis=0) for one, (array, mode) in planes.items()]
    register(
        NodeKind(name=name, access=lambda node: accesses, complete_access=True),
        Lowering(kind=name, backend="cpu", lower=lower),
    )
    return Node(name, None)


@pytest.mark.usefixtures("checking")
def test_code_that_adds_to_what_it_says_it_only_writes_is_told() -> None:
    x, y = np.ones(100), np.zeros(100)

    def body(begin: int, end: int) -> None:
        y[begin:end] += x[begin:end]

    node = native_node("adds to an output", {"x": (x, "r"), "y": (y, "w")}, body)
    g = eagle.Graph().add_node(node, name="adds").build()
    with pytest.raises(eagle.PlaneError, match="node 'adds', plane 'y': the code reads this output before"):
        g.launch()


@pytest.mark.usefixtures("checking")
def test_the_output_that_is_read_is_told_though_another_one_shows_it() -> None:
    a, b, c = np.zeros(100), np.zeros(100), np.zeros(100)

    def body(begin: int, end: int) -> None:
        c[begin:end] = b[begin:end]
        a[begin:end] = b[begin:end] = 1

    node = native_node("copies an output", {"a": (a, "w"), "b": (b, "w"), "c": (c, "w")}, body)
    with pytest.raises(eagle.PlaneError, match="plane 'b'"):
        eagle.Graph().add_node(node).build().launch()


@pytest.mark.usefixtures("checking")
def test_elements_that_are_not_written_keep_what_they_held() -> None:
    x, y = np.zeros(100), np.full(100, 5.0)

    def body(begin: int, end: int) -> None:
        x[begin:end] += 1
        y[begin:end:2] = x[begin:end:2]

    node = native_node("writes every other", {"x": (x, "rw"), "y": (y, "w")}, body)
    eagle.Graph().add_node(node).build().launch(3)
    assert (x == 3).all()
    assert (y[::2] == 3).all()
    assert (y[1::2] == 5).all()


@hawk.kernel
def wander(x: hawk.Mutable[hawk.Scalar], done: hawk.Terminated) -> hawk.Scalar:
    x += 1.0
    done = x > 3.0
    return x * 2.0


@pytest.mark.usefixtures("checking")
def test_planes_without_elements_pass() -> None:
    x, total = np.zeros(0), np.ones(1)
    node = native_node(
        "has nothing to do", {"x": (np.zeros(0), "rw"), "y": (np.zeros(0), "w")}, lambda begin, end: None
    )
    eagle.Graph().add_node(node).add_node(eagle.reduce(x, total)).build().launch()
    assert total[0] == 0


def test_kernels_and_reductions_pass_with_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def results() -> list[np.ndarray]:
        x, done, out, total = np.arange(5.0), np.zeros(5, bool), np.full(5, -1.0), np.zeros(1)
        g = eagle.Graph().add(eagle.deploy(wander).bind(x=x, done=done, out=out)).add_node(eagle.reduce(out, total))
        g.build().launch(3)
        return [x, done, out, total]

    plain = results()
    monkeypatch.setenv("EAGLE_CHECK", "1")
    for now, then in zip(results(), plain, strict=True):
        np.testing.assert_array_equal(now, then)
