"""What runs fused or tile by tile, what does not and why, and that nobody can tell by the results."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable
from typing import Any

import graph_kernels as kernels
import kernels as few
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle.graph import opaque
from eagle.plugin import Access, Lowering, Node, NodeKind, register
from eagle_cpu import team
from eagle_cpu.engine import build
from eagle_cpu.engine.compiler import to_object
from eagle_cpu.fusion import alignment, joining, pieces

affine, scale = eagle.deploy(kernels.affine), eagle.deploy(kernels.scale)
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


def chain(x: np.ndarray, a: np.ndarray, nodes: int) -> eagle.Graph:
    g = eagle.Graph()
    for _ in range(nodes):
        g.add(affine.bind(a=a, x=x))
    return g


def test_a_chain_in_place_is_one_kernel() -> None:
    x, a = np.zeros(1000), np.full(1000, 0.5)
    g = chain(x, a, 3).build()
    assert g.fusion() == "affine, affine_2, affine_3: one fused kernel over 1000 samples"
    assert (g.launch(2), x[0])[1] == 1.96875


def test_without_fuse_every_node_runs_by_itself() -> None:
    g = chain(np.zeros(10), np.ones(10), 3).build(fuse=False)
    assert g.fusion() == "every node runs by itself: the graph was built with fuse=False"


@pytest.mark.parametrize("value", [1, "no", None])
def test_fuse_is_true_or_false(value: object) -> None:
    with pytest.raises(eagle.BuildError, match=r"fuse is .* Give True or False"):
        chain(np.zeros(10), np.ones(10), 2).build(fuse=value)


def test_nodes_that_nothing_joins_share_a_line() -> None:
    g = eagle.Graph()
    for samples in range(10, 16):
        g.add(affine.bind(a=np.zeros(samples), x=np.zeros(samples)))
    g.add_node(opaque(lambda: None)).add(affine.bind(a=np.zeros(9), x=np.zeros(9)))
    before = team.team_size()
    team.set_team_size(2)  # side by side
    try:
        g.build()
    finally:
        team.set_team_size(before)
    assert g.fusion().splitlines()[0] == "affine .. affine_7 (7 nodes): each by itself"


def test_fusion_is_known_once_the_graph_is_built() -> None:
    with pytest.raises(eagle.BuildError, match=r"Call build\(\) first"):
        chain(np.zeros(10), np.ones(10), 2).fusion()


def test_another_number_of_samples_ends_a_run() -> None:
    x, a = np.zeros(12), np.ones(12)
    g = eagle.Graph().add(affine.bind(a=a, x=x)).add(affine.bind(a=a[:5], x=x[:5])).build()
    assert "cut: 'affine_2' has 5 samples, and the nodes before it have 12" in g.fusion()


def test_planes_that_share_memory_but_are_shifted_end_a_run() -> None:
    base = np.arange(11.0)
    g = eagle.Graph()
    g.add(scale.bind(x=base[1:], factor=2.0, out=np.zeros(10)), name="first")
    g.add(affine.bind(a=np.ones(10), x=base[:-1]), name="second").build()
    assert "plane 'x' of 'second' and 'x' of 'first' share memory, but not sample for sample" in g.fusion()


def test_a_table_that_the_run_writes_ends_it() -> None:
    table, j = np.arange(8.0), np.arange(8)[::-1].copy()
    out = np.zeros(8)
    g = eagle.Graph().add(affine.bind(a=np.ones(8), x=table))
    g.add(eagle.deploy(kernels.look_up).bind(j=j, table=table, out=out)).build().launch()
    assert "'table' of 'look_up' and 'x' of 'affine' share memory" in g.fusion()
    np.testing.assert_array_equal(out, np.arange(8.0)[::-1] + 1)


def test_a_kernel_that_can_fail_runs_tile_by_tile_but_not_fused() -> None:
    c, k = np.ones(5000, np.int32), np.ones(5000, np.int32)
    x = np.zeros(5000)
    g = eagle.Graph().add(affine.bind(a=x.copy(), x=x)).add(eagle.deploy(kernels.divide).bind(c=c, k=k, out=c.copy()))
    g.add(affine.bind(a=x.copy(), x=x)).build()
    assert "tile by tile" in g.fusion()
    assert "not fused: 'divide' can fail for a sample (it divides integers)" in g.fusion()


def test_a_python_node_ends_a_run() -> None:
    x, a, seen = np.zeros(10), np.ones(10), []
    g = chain(x, a, 2).add_node(opaque(lambda: seen.append(x[0]), reads={"x": x}))
    for _ in range(2):
        g.add(affine.bind(a=a, x=x))
    g.build().launch()
    assert seen == [2.0]
    assert g.fusion().count("one fused kernel") == 2


def test_memory_that_two_kernels_take_for_different_numbers_is_not_passed_in_registers() -> None:
    bits = np.array([-1, 5, 2**31 - 1, -(2**31)], np.int32)
    mix, expected = eagle.deploy(kernels.mix), bits.copy()
    k = np.ones(4, np.int32)

    def graph(c: np.ndarray) -> eagle.Graph:
        g = eagle.Graph().add(mix.bind(c=c, k=k, u=k.view(np.uint32)))
        return g.add(mix.bind(c=c, k=k, u=k.view(np.uint32))).add(mix.bind(c=k.copy(), k=k, u=c.view(np.uint32)))

    graph(expected).build(fuse=False).launch()
    g = graph(bits).build()
    g.launch()
    np.testing.assert_array_equal(bits, expected)
    assert "tile by tile" in g.fusion()


def test_a_masked_kernel_sees_what_the_one_before_it_finished_and_leaves_those_bytes() -> None:
    decay, watched = eagle.deploy(kernels.decay), eagle.deploy(kernels.watched)
    x, rate, total = np.array([0.5, 8.0, 8.0]), np.ones(3), np.zeros(3)
    done = np.array([0, 0, 2], np.uint8)  # any byte but 0 is true
    g = eagle.Graph().add(decay.bind(x=x, rate=rate, terminated=done.view(bool)))
    g.add(watched.bind(x=rate, terminated=done.view(bool), out=total)).build().launch()
    assert "one fused kernel" in g.fusion()
    assert done.tolist() == [1, 0, 2]
    assert x.tolist() == [0.375, 6.0, 8.0]
    assert total.tolist() == [0.0, 1.0, 0.0]


def test_the_fault_of_the_lowest_node_is_raised_and_its_run_is_finished() -> None:
    divide, called = eagle.deploy(kernels.divide), []
    n = 20_000
    c, late, early = np.ones(n, np.int32), np.ones(n, np.int32), np.ones(n, np.int32)
    late[[15_000, 19_000]], early[3] = 0, 0  # the second node's fault lies in an earlier tile
    x = np.zeros(n)
    g = eagle.Graph().add(divide.bind(c=c, k=late, out=c.copy()), name="first")
    g.add(divide.bind(c=c, k=early, out=c.copy()), name="second").add(affine.bind(a=x + 1, x=x))
    g.add_node(opaque(lambda: called.append(1))).build()
    assert "tile by tile" in g.fusion()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="sample 15000 ") as caught:
            g.launch()
        assert "in node 'first'" in caught.value.__notes__[0]
    assert (x == 2).all()
    assert not called
    late[:] = 1
    with pytest.raises(ZeroDivisionError, match="sample 3 "):
        g.launch()
    early[:] = 1
    g.launch()
    assert called == [1]


def native_node(
    name: str,
    x: np.ndarray,
    change: Callable[[np.ndarray], None],
    code: int = 0,
    *,
    complete: bool = True,
    grain: int = 8,
) -> Node[Any]:
    @ENTRY  # type: ignore[untyped-decorator]
    def entry(args: int, begin: int, end: int, run: int) -> int:
        change(x[begin:end])
        return code

    def lower(placed: Any, context: Any) -> Any:
        context.keep(entry)
        return context.native(ctypes.cast(entry, ctypes.c_void_p).value, 0, samples=len(x), grain=grain)

    register(
        NodeKind(
            name=name, access=lambda node: [Access(name="x", array=x, mode="rw", axis=0)], complete_access=complete
        ),
        Lowering(kind=name, backend="cpu", lower=lower),
    )
    return Node(name, None)


def test_a_strangers_native_node_joins_the_tiles() -> None:
    x = np.zeros(5000)

    def add(part: np.ndarray) -> None:
        part += 1

    g = eagle.Graph().add(affine.bind(a=x.copy(), x=x)).add_node(native_node("strange step", x, add))
    g.add(affine.bind(a=np.ones(5000), x=x)).build().launch(2)
    assert "tile by tile" in g.fusion()
    assert "'strange step' is no kernel" in g.fusion()
    assert (x == 3).all()


def test_ranges_are_cut_where_every_node_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "_LEAST_TILE", 1)
    monkeypatch.setattr(joining, "_TILE_BYTES", 1)
    x, sizes = np.zeros(5000), []
    g = eagle.Graph().add(affine.bind(a=x.copy(), x=x))
    g.add_node(native_node("by threes", x, lambda part: sizes.append(len(part)), grain=3)).build().launch()
    assert "tile by tile" in g.fusion()
    assert sum(sizes) == 5000
    assert all(size % 3 == 0 and size < 5000 for size in sizes[:-1])


def test_a_native_node_that_may_touch_more_than_its_planes_joins_nothing() -> None:
    x, seen = np.zeros(5000), []
    g = eagle.Graph().add(affine.bind(a=x.copy(), x=x))
    g.add_node(native_node("open ended", x, lambda part: seen.append(x[-1]), complete=False))
    g.add(affine.bind(a=x + 1, x=x)).build().launch()
    assert g.fusion().count("'open ended' may touch more than its planes") == 2
    assert set(seen) == {1.0}


def test_a_strangers_failure_inside_a_run_names_its_node() -> None:
    x = np.zeros(100)
    g = eagle.Graph().add(affine.bind(a=x.copy(), x=x))
    g.add_node(native_node("failing step", x, lambda part: None, code=4), name="stranger").build()
    with pytest.raises(RuntimeError, match="node 'stranger' failed with code 4"):
        g.launch()


def test_repeated_kernels_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("EAGLE_CACHE_DIR", str(tmp_path))
    compiled: list[str] = []

    def counted(text: str, **options: bool) -> bytes:
        compiled.append(text)
        return to_object(text, **options)

    monkeypatch.setattr(build, "to_object", counted)
    monkeypatch.setattr(pieces, "LARGEST", 64)
    x, y, a = np.zeros(100), np.zeros(100), np.full(100, 0.5)
    g = eagle.Graph()
    for _ in range(60):
        g.add(affine.bind(a=a, x=x)).add(scale.bind(x=x, factor=0.5, out=y)).add(affine.bind(a=y, x=x))
    g.build().launch()
    assert len(compiled) == 1
    assert "fused kernels of" in g.fusion()


def test_more_code_than_a_graph_may_have_compiled_runs_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "COMPILED", 0)
    x = np.zeros(1000)
    g = chain(x, np.full(1000, 0.5), 3).build()
    assert "1000 of 1000 samples at a time: 3 nodes" in g.fusion()
    assert (g.launch(), x[0])[1] == 1.75


def test_an_interrupt_ends_a_tiled_run() -> None:
    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    n = 200_000
    x, k = np.zeros(n), np.ones(n, np.int32)
    g = eagle.Graph()
    for _ in range(8):
        g.add(eagle.deploy(kernels.smooth).bind(x=x)).add(eagle.deploy(few.divide).bind(a=k, b=k, out=k.copy()))
    g.build()
    assert "tile by tile" in g.fusion()
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt) as caught:
            g.launch(1_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "samples may stand at different nodes" in caught.value.__notes__[0]


def test_the_steps_of_a_loop_are_fused() -> None:
    x, a, on = np.zeros(100), np.full(100, 0.5), np.ones(1, np.int32)
    steps = tuple(affine.bind(a=a, x=x).launch for _ in range(3))
    g = eagle.Graph().add_node(eagle.repeat_while(steps, eagle.SkipGuard.nonzero(on), 2)).build().launch()
    assert "one fused kernel" in g.fusion()
    assert x[0] == 1.96875


@pytest.mark.parametrize("samples", [1000, 20_000])
def test_a_reduction_is_fused_behind_the_kernels_that_make_its_plane(samples: int) -> None:
    x, total = np.zeros(samples), np.zeros(1)
    g = chain(x, np.full(samples, 0.5), 2).add_node(eagle.reduce(x, total)).add(affine.bind(a=x + 1, x=x))
    g.build().launch()
    assert g.fusion() == f"affine, affine_2, reduce, affine_3: one fused kernel over {samples} samples"
    assert total[0] == 1.5 * samples
    assert (x == 2.5).all()


@pytest.mark.parametrize("samples", [1000, 20_000])
def test_a_reduction_of_one_row_is_fused_behind_the_kernel_that_makes_the_plane(samples: int) -> None:
    v, a, total = np.ones((3, samples)), np.full(samples, 0.25), np.zeros(1)
    g = eagle.Graph().add(eagle.deploy(kernels.spin).bind(v=v, a=a)).add_node(eagle.reduce(v[2], total))
    g.add(affine.bind(a=a, x=v[2])).build().launch()
    assert g.fusion() == f"spin, reduce, affine: one fused kernel over {samples} samples"
    assert total[0] == -samples
    assert (v[2] == 0.75).all()


def test_a_reduction_of_elements_that_lie_apart_joins_the_tiles_and_says_why_it_is_not_fused() -> None:
    x, total, pairs = np.zeros(5000), np.zeros(1), np.ones((5000, 2))
    g = chain(x, np.full(5000, 0.5), 2).add_node(eagle.reduce(pairs[:, 1], total)).build()
    g.launch()
    assert "tile by tile, 4096 of 5000 samples at a time: 1 fused kernel of 2 nodes, 1 node" in g.fusion()
    assert "not fused: the elements that 'reduce' reduces do not lie one behind the other" in g.fusion()
    assert total[0] == 5000


def test_a_kernel_that_adds_to_a_row_after_it_was_summed_changes_only_what_comes_later() -> None:
    x, totals = np.zeros(5000), np.zeros(2)
    g = chain(x, np.full(5000, 0.5), 1).add_node(eagle.reduce(x, totals[:1]))
    g.add(affine.bind(a=np.ones(5000), x=x)).add_node(eagle.reduce(x, totals[1:])).build().launch(2)
    assert "one fused kernel" in g.fusion()
    assert totals.tolist() == [2.0 * 5000, 3.0 * 5000]


def test_rows_that_are_shifted_against_those_of_a_plane_end_a_run() -> None:
    base = np.zeros(40)
    v, shifted = base[:30].reshape(3, 10), base[11:21]
    g = (
        eagle.Graph()
        .add(eagle.deploy(kernels.spin).bind(v=v, a=np.ones(10)))
        .add_node(eagle.reduce(shifted, base[-1:]))
    )
    g.build()
    assert "plane 'x' of 'reduce' and 'v' of 'spin' share memory, but not sample for sample" in g.fusion()


def test_a_row_that_is_taken_for_other_numbers_is_not_passed_in_registers() -> None:
    x, total = np.zeros(100), np.zeros(1, np.int64)
    g = chain(x, np.zeros(100), 1).add_node(eagle.reduce(x.view(np.int64), total, "max")).build()
    g.launch()
    assert "tile by tile" in g.fusion()
    assert total[0] == np.ones(1).view(np.int64)[0]


@pytest.mark.property
@given(
    st.integers(-60, 60), st.integers(0, 9), st.integers(1, 6), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 4])
)
def test_rows_are_mixed_when_bytes_of_two_samples_meet_or_elements_meet_in_part(
    distance: int, stride: int, count: int, size: int, other: int
) -> None:
    ours = [set(range(i * stride, i * stride + size)) for i in range(count)]
    theirs = [set(range(distance + i * stride, distance + i * stride + other)) for i in range(count)]
    pairs = [(i, j) for i in range(count) for j in range(count) if ours[i] & theirs[j]]
    alike = all(i == j and ours[i] == theirs[j] for i, j in pairs)
    assert alignment._rows_mixed(distance, stride, count, size, other) == (not alike)


def test_a_reduction_that_would_leave_threads_idle_stays_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "_cost", lambda step: 1000.0)
    x, total = np.zeros(5000), np.zeros(1)
    g = chain(x, np.full(5000, 0.5), 1).add_node(eagle.reduce(x, total)).build()
    assert "with 'reduce' threads could take samples only in steps of 4096" in g.fusion()
