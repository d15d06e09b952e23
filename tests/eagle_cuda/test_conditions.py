"""Guards on the device, and the conditionals that read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_interrupts import interrupted_while_waiting

import eagle
from eagle.graph import Node, opaque

Cuda = Any


def bump(cuda: Cuda, x: Any) -> Node[Any]:
    return opaque(cuda.shift(x, 1.0, x), reads={"x": x}, writes={"x": x}, name="bump")


def runs(cuda: Cuda, guard: eagle.SkipGuard) -> bool:
    """Whether a step runs under this guard."""
    x = cuda.array([0.0])
    eagle.Graph().add_node(eagle.skippable(bump(cuda, x), guard)).build().launch()
    return bool(x.to_numpy()[0] == 1)


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_compared_in_their_own_width(cuda: Cuda, dtype: str) -> None:
    limits = np.iinfo(dtype)
    cells = cuda.array([0, 1, limits.max, limits.min], dtype)
    for index, value in enumerate([0, 1, limits.max, limits.min]):
        assert runs(cuda, eagle.SkipGuard(cells, index)) == (value != 0)
        assert runs(cuda, eagle.SkipGuard(cells, index, cells, baseline_index=2)) == (value != limits.max)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_are_compared_as_numbers(cuda: Cuda, dtype: str) -> None:
    cells = cuda.array([0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).smallest_subnormal, 0.5], dtype)
    assert [runs(cuda, eagle.SkipGuard(cells, index)) for index in range(6)] == [False, False, True, True, True, True]
    assert not runs(cuda, eagle.SkipGuard(cells, 0, cells, baseline_index=1))
    assert runs(cuda, eagle.SkipGuard(cells, 2, cells, baseline_index=3))


def test_any_byte_but_zero_is_true(cuda: Cuda) -> None:
    raw = cuda.array([0, 1, 2, 255], np.uint8)
    raw.dtype = np.dtype(bool)
    assert [runs(cuda, eagle.SkipGuard(raw, index)) for index in range(4)] == [False, True, True, True]
    assert not runs(cuda, eagle.SkipGuard(raw, 1, raw, baseline_index=3))


def test_a_cell_of_a_strided_array_need_not_be_aligned(cuda: Cuda) -> None:
    packed = DeviceArray(np.array([(1, 0), (2, 7), (3, 0)], np.dtype([("tag", "u1"), ("value", "<i4")])))
    packed._address, packed.dtype = packed._address + 1, np.dtype(np.int32)
    assert [runs(cuda, eagle.SkipGuard(packed, index)) for index in range(3)] == [False, True, False]
    assert runs(cuda, eagle.SkipGuard(packed[::-1], 1))


def test_a_negated_guard_runs_when_the_cells_are_equal(cuda: Cuda) -> None:
    cells = cuda.array([3, 3, 4], np.int32)
    guards = [eagle.SkipGuard(cells, 0, cells, True, baseline_index=index) for index in (1, 2)]
    assert [runs(cuda, guard) for guard in guards] == [True, False]


@pytest.mark.parametrize(("index", "plane"), [(1, "guard"), (0, "baseline")])
def test_nan_in_a_guard_is_raised_after_the_run_and_names_the_node(cuda: Cuda, index: int, plane: str) -> None:
    cells, x = cuda.array([0.0, np.nan]), cuda.array([0.0])
    guard = eagle.SkipGuard(cells, index, cells, baseline_index=1 - index)
    g = eagle.Graph().add_node(eagle.skippable(bump(cuda, x), guard), name="maybe").build()
    with pytest.raises(eagle.PlaneError, match=f"node 'maybe', plane '{plane}': the cell a guard reads is NaN"):
        g.launch()
    assert x.to_numpy()[0] == 0
    cells.fill_from([1.0, 2.0])
    g.launch()
    assert x.to_numpy()[0] == 1


def test_nan_halts_the_conditionals_of_later_repetitions_and_none_of_its_own(cuda: Cuda, seed: int) -> None:
    x, y, on, nan = cuda.array([0.0]), cuda.array([0.0]), cuda.array([1], np.int32), cuda.array([1.0])
    loop = eagle.repeat_while(bump(cuda, y), eagle.SkipGuard.nonzero(on), 5)
    broken = eagle.repeat_while(
        opaque(cuda.scale(nan, float("nan"), nan), reads={"n": nan}, writes={"n": nan}), eagle.SkipGuard(nan)
    )
    g = eagle.Graph().add_group([eagle.skippable(bump(cuda, x), eagle.SkipGuard.nonzero(on)), loop, broken])
    g.add_node(eagle.skippable(bump(cuda, x), eagle.SkipGuard.nonzero(on))).add_node(bump(cuda, x)).build()
    with pytest.raises(eagle.PlaneError, match="NaN"):
        g.launch(4)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (3 + 3, 5)  # captured code runs in every repetition
    assert (loop.iterations, loop.hit_limit, broken.iterations) == (5, True, 1)
    nan.fill_from(0.0)
    g.launch(2)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (6 + 2 * 3, 15)


def test_nan_ends_a_loop_and_is_raised(cuda: Cuda) -> None:
    x = cuda.array([1.0])
    growing = opaque(cuda.scale(x, float("nan"), x), reads={"x": x}, writes={"x": x})
    g = eagle.Graph().add_node(eagle.repeat_while(growing, eagle.SkipGuard.nonzero(x)), name="loop").build()
    with pytest.raises(eagle.PlaneError, match="node 'loop'"):
        g.launch()


def test_a_loop_reports_its_last_repetition_and_one_that_was_not_entered_nothing(cuda: Cuda, seed: int) -> None:
    x, goal, on = cuda.array([0.0]), cuda.array([3.0]), cuda.array([1], np.int32)
    inner = eagle.repeat_while(bump(cuda, x), eagle.SkipGuard(x, 0, goal))
    g = eagle.Graph().add_node(eagle.skippable(inner, eagle.SkipGuard.nonzero(on))).build()
    found = [(inner.iterations, inner.hit_limit)]
    for entered in (1, 0, 1):
        on.fill_from(entered)
        g.launch()
        found.append((inner.iterations, inner.hit_limit))
    assert found == [(None, None), (3, False), (3, False), (0, False)]


def test_an_inner_loop_starts_anew_in_every_iteration_of_the_outer_one(cuda: Cuda, seed: int) -> None:
    x, on = cuda.array([0.0]), cuda.array([1], np.int32)
    inner = eagle.repeat_while(bump(cuda, x), eagle.SkipGuard.nonzero(on), 3)
    outer = eagle.repeat_while(inner, eagle.SkipGuard.nonzero(on), 4)
    eagle.Graph().add_node(outer).build().launch(2)
    assert x.to_numpy()[0] == 2 * 3 * 4
    assert (outer.iterations, outer.hit_limit) == (4, True)
    assert (inner.iterations, inner.hit_limit) == (3, True)


def test_conditionals_nest_four_deep(cuda: Cuda, seed: int) -> None:
    x, on = cuda.array([0.0]), cuda.array([1], np.int32)
    step: Any = bump(cuda, x)
    for _ in range(2):
        step = eagle.repeat_while(eagle.skippable(step, eagle.SkipGuard.nonzero(on)), eagle.SkipGuard.nonzero(on), 2)
    eagle.Graph().add_node(step).build().launch()
    assert x.to_numpy()[0] == 4


def test_forty_conditionals_in_one_graph(cuda: Cuda, seed: int) -> None:
    x, flags = cuda.array([0.0]), cuda.array([index % 2 for index in range(40)], np.int32)
    g = eagle.Graph()
    for index in range(40):
        g.add_node(eagle.skippable(bump(cuda, x), eagle.SkipGuard.nonzero(flags, index)))
    g.build().launch()
    assert x.to_numpy()[0] == 20


def test_conditionals_in_branches_of_a_group(cuda: Cuda, seed: int) -> None:
    x, y, on = cuda.array([0.0]), cuda.array([0.0]), cuda.array([1, 0], np.int32)
    branches = [
        eagle.repeat_while(bump(cuda, x), eagle.SkipGuard.nonzero(on), 5),
        eagle.skippable(bump(cuda, y), eagle.SkipGuard.nonzero(on, 1)),
    ]
    eagle.Graph().add_group(branches).build().launch()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (5, 0)


def test_a_step_that_records_nothing(cuda: Cuda) -> None:
    on = cuda.array([1], np.int32)
    loop = eagle.repeat_while(opaque(lambda: None, reads={"on": on}), eagle.SkipGuard.nonzero(on), 3)
    eagle.Graph().add_node(loop).build().launch()
    assert loop.iterations == 3


def test_a_guard_of_a_type_the_device_cannot_read_is_refused_by_name(cuda: Cuda) -> None:
    x, wide = cuda.array([0.0]), cuda.array([1], np.longdouble)
    g = eagle.Graph().add_node(eagle.skippable(bump(cuda, x), eagle.SkipGuard(wide)), name="maybe")
    with pytest.raises(eagle.BuildError, match=r"node 'maybe': a guard cannot read .* on the device"):
        g.build()


STEPS = 8  # of an endless loop's body: the emulated device gives up after a million rounds, whatever they take


def endless(cuda: Cuda, x: Any, on: Any) -> Node[Any]:
    add = cuda.shift(x, 1.0, x)
    step = opaque(lambda: [add() for _ in range(STEPS)], reads={"x": x}, writes={"x": x})
    return eagle.repeat_while(step, eagle.SkipGuard.nonzero(on))


def test_an_interrupt_ends_a_loop_that_would_not_end(cuda: Cuda) -> None:
    x, on = cuda.array([0.0]), cuda.array([1], np.int32)
    loop: Any = endless(cuda, x, on)
    g = eagle.Graph().add_node(loop).build()
    with interrupted_while_waiting() as caught:
        g.launch(2)
    assert any("stopped" in note for note in caught.value.__notes__)
    if g.schedule == ("host_driven",):
        assert loop.iterations * STEPS == x.to_numpy()[0] > 0  # of the first repetition: the host queued no other
    else:
        assert loop.iterations == 0  # of the last repetition, which had not begun
    on.fill_from(0)
    g.launch()
    assert loop.iterations == 0


def test_an_interrupt_ends_a_loop_that_a_host_node_waits_for(cuda: Cuda) -> None:
    x, on, calls = cuda.array([0.0]), cuda.array([1], np.int32), list[int]()
    loop: Any = endless(cuda, x, on)
    g = eagle.Graph().add_node(loop).add_node(opaque(lambda: calls.append(1), eager=True), name="log").build()
    with interrupted_while_waiting() as caught:
        g.launch()
    assert any("stopped" in note for note in caught.value.__notes__)
    assert loop.iterations * STEPS == x.to_numpy()[0]
    assert calls == []
    on.fill_from(0)
    g.launch()
    assert (calls, loop.iterations) == ([1], 0)


def test_an_interrupt_is_raised_even_if_a_guard_was_nan(cuda: Cuda) -> None:
    x, on, nan = cuda.array([0.0]), cuda.array([1], np.int32), cuda.array([np.nan])
    g = eagle.Graph().add_node(eagle.skippable(bump(cuda, x), eagle.SkipGuard(nan)), name="maybe")
    g.add_node(endless(cuda, x, on)).build()
    with interrupted_while_waiting() as caught:
        g.launch()
    assert any("'maybe'" in note and "NaN" in note for note in caught.value.__notes__)
