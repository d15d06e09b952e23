"""Guards, skips and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
from eagle.graph import opaque

Device = Any


def bump(device: Device, x: Any) -> Any:
    return opaque(device.shift(x, 1.0, x), reads={"x": x}, writes={"x": x}, name="bump")


@pytest.mark.parametrize(("flag", "runs"), [(0, 0), (1, 1), (-3, 1)])
def test_skippable_runs_its_step_when_the_cell_is_not_zero(device: Device, flag: int, runs: int) -> None:
    x, cell = device.array([0.0]), device.array([0, flag], np.int32)
    g = eagle.Graph().add_node(eagle.skippable(bump(device, x), eagle.SkipGuard.nonzero(cell, 1))).build()
    g.launch(2)
    assert device.to_numpy(x)[0] == 2 * runs


def test_the_guard_is_read_when_its_turn_comes(device: Device) -> None:
    x, flag = device.array([0.0]), device.array([0.0])
    g = eagle.Graph()
    g.add_node(opaque(device.shift(flag, 0.5, flag), reads={"f": flag}, writes={"f": flag}))
    g.add_node(eagle.skippable(bump(device, x), eagle.SkipGuard.nonzero(flag)))
    g.build().launch()
    assert device.to_numpy(x)[0] == 1


def test_a_negated_guard_with_a_baseline(device: Device) -> None:
    x, cell, base = device.array([0.0]), device.array([7], np.int64), device.array([1, 7], np.int64)
    guard = eagle.SkipGuard(cell, 0, base, baseline_index=1)
    assert not guard.evaluate()
    assert guard.negated().evaluate()
    g = eagle.Graph()
    g.add_node(eagle.skippable(bump(device, x), guard)).add_node(eagle.skippable(bump(device, x), guard.negated()))
    g.build().launch()
    assert device.to_numpy(x)[0] == 1


def test_repeat_while_goes_on_until_the_guard_turns_false(device: Device) -> None:
    x, goal = device.array([0.0]), device.array([5.0])
    loop = eagle.repeat_while(bump(device, x), eagle.SkipGuard(x, 0, goal))
    assert (loop.iterations, loop.hit_limit) == (None, None)
    eagle.Graph().add_node(loop, name="loop").build().launch()
    assert device.to_numpy(x)[0] == 5
    assert loop.iterations == 5
    assert loop.hit_limit is False


def test_repeat_while_stops_at_its_limit(device: Device) -> None:
    x, on = device.array([0.0]), device.array([1], bool)
    loop = eagle.repeat_while(bump(device, x), eagle.SkipGuard.nonzero(on), np.int64(4))
    g = eagle.Graph().add_node(loop).build().launch(2)
    assert device.to_numpy(x)[0] == 8
    assert (loop.iterations, loop.hit_limit) == (4, True)
    assert g.num_nodes() == 1


def test_a_loop_whose_guard_is_false_at_once_runs_nothing(device: Device) -> None:
    x, off = device.array([0.0]), device.array([0], bool)
    loop = eagle.repeat_while(bump(device, x), eagle.SkipGuard.nonzero(off), 4)
    eagle.Graph().add_node(loop).build().launch()
    assert device.to_numpy(x)[0] == 0
    assert (loop.iterations, loop.hit_limit) == (0, False)


def test_conditionals_nest_and_take_several_parts(device: Device) -> None:
    x, y, three, on = device.array([0.0]), device.array([0.0]), device.array([3.0]), device.array([1], bool)
    inner = eagle.repeat_while(
        (bump(device, x), opaque(device.add(x, y, y), reads={"x": x, "y": y}, writes={"y": y})),
        eagle.SkipGuard(x, 0, three),
    )
    g = eagle.Graph().add_node(eagle.skippable(inner, eagle.SkipGuard.nonzero(on)), name="outer").build().launch()
    assert device.to_numpy(y)[0] == 1 + 2 + 3
    assert g.node_labels() == ("outer",)
    assert inner.iterations == 3


def test_a_conditional_is_ordered_by_its_guard_and_its_body(device: Device) -> None:
    x, y, flag = device.array([1.0]), device.array([0.0]), device.array([0.0])
    g = eagle.Graph()
    g.add_node(opaque(device.fill(flag, 1.0), writes={"flag": flag}), name="raise")
    g.add_node(
        eagle.skippable(
            opaque(device.scale(x, 2.0, y), reads={"x": x}, writes={"y": y}), eagle.SkipGuard.nonzero(flag)
        ),
        name="maybe",
    )
    g.add_node(eagle.copy(y, into=x), name="use")
    found = {(e.src, e.dst, e.plane, e.kind) for e in g.edges()}
    assert found == {(0, 1, "flag", "RAW"), (1, 2, "y", "RAW"), (1, 2, "x", "WAR")}
    g.build().launch()
    assert device.to_numpy(x)[0] == 2
