"""Reductions: the documented order, bit for bit, and the edge cases of each op."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle

Device = Any


def reduced(device: Device, values: Any, op: str, dtype: Any = np.float64, key: Any = slice(None)) -> Any:
    x, out = device.array(values, dtype), device.array([3], dtype)
    eagle.Graph().add_node(eagle.reduce(device.view(x, key), out, op)).build().launch()
    return device.to_numpy(out)[0]


@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_small_integers_reduce_exactly(device: Device, op: str, dtype: Any) -> None:
    values = [3, -1, 4, 1, -5, 9, 2, -6]
    assert reduced(device, values, op, dtype) == getattr(np, op)(values)


@pytest.mark.parametrize(("values", "every", "some"), [([], True, False), ([0, 1], False, True), ([1, 1], True, True)])
def test_all_and_any(device: Device, values: list[int], every: bool, some: bool) -> None:
    assert reduced(device, values, "all", bool) == every
    assert reduced(device, values, "any", bool) == some


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_the_sum_of_nothing_is_zero(device: Device, dtype: Any) -> None:
    total = reduced(device, [], "sum", dtype)
    assert total == 0
    assert not np.signbit(total)


@pytest.mark.parametrize("op", ["max", "min"])
def test_the_extreme_of_nothing_is_refused_at_build(device: Device, op: str) -> None:
    g = eagle.Graph().add_node(eagle.reduce(device.array([]), device.array([0.0]), op), name="extreme")
    with pytest.raises(eagle.BuildError, match=rf"node 'extreme'.*the {op} of no elements"):
        g.build()


@pytest.mark.parametrize("at", [0, 5, 99])
@pytest.mark.parametrize("op", ["max", "min"])
def test_nan_wins_from_any_position(device: Device, op: str, at: int) -> None:
    values = np.arange(100.0)
    values[at] = np.nan
    assert np.isnan(reduced(device, values, op))


@pytest.mark.parametrize("values", [[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0, 0.0] * 40])
def test_positive_zero_is_larger_than_negative_zero(device: Device, values: list[float]) -> None:
    assert not np.signbit(reduced(device, values, "max"))
    assert np.signbit(reduced(device, values, "min"))


def test_a_sum_of_negative_zeros_is_negative_zero(device: Device) -> None:
    assert np.signbit(reduced(device, [-0.0] * 200, "sum"))


def test_integers_wrap(device: Device) -> None:
    assert reduced(device, [2**31 - 1, 1], "sum", np.int32) == -(2**31)
    assert reduced(device, [2**63 - 1, 2], "sum", np.int64) == -(2**63) + 1


def test_float32_is_added_in_float64_and_rounded_once(device: Device) -> None:
    values = np.array([1.0] + [2.0**-24] * 100, np.float32)
    assert reduced(device, values, "sum", np.float32) == np.float32(1.0 + 100 * 2.0**-24)


def test_lanes_add_in_the_documented_order(device: Device) -> None:
    big = 2.0**53
    values = np.zeros(192)
    values[0], values[64], values[128] = big, 1.0, -big  # one lane: (big + 1) - big is 0, not 1
    assert reduced(device, values, "sum") == 0.0
    values[64], values[65] = 0.0, 1.0  # another lane keeps its 1
    assert reduced(device, values, "sum") == 1.0


@pytest.mark.parametrize("key", [slice(None, None, -1), slice(3, None, 7), slice(0, 4097)])
def test_strided_planes_reduce_by_their_elements(device: Device, key: slice) -> None:
    values = np.arange(10_000) % 97
    assert reduced(device, values, "sum", np.float64, key) == values[key].sum()


def test_a_reduction_waits_for_what_makes_its_plane(device: Device) -> None:
    a, b, total = device.array([1.0, 2.0, 3.0]), device.array([0.0] * 3), device.array([0.0])
    g = eagle.Graph().add_node(eagle.copy(a, into=b)).add_node(eagle.reduce(b, total))
    assert [(e.src, e.dst, e.kind) for e in g.edges()] == [(0, 1, "RAW")]
    g.build().launch()
    assert device.to_numpy(total)[0] == 6
