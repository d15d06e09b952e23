"""Bound plans given other arrays, alone and in the graphs they stand in."""

from __future__ import annotations

from typing import Any

import kernels
import numpy as np
import pytest

import eagle


@pytest.fixture
def x() -> np.ndarray:
    return np.arange(5.0)


def test_rebind_changes_some_arguments_and_keeps_the_others(device: Any) -> None:
    x, y, out = (device.array(one) for one in (np.arange(5.0), np.ones(5), np.zeros(5)))
    bound = eagle.deploy(kernels.scale).bind(x=x, factor=2.0, out=out).launch()
    bound.rebind(x=y, factor=3).launch()
    np.testing.assert_array_equal(device.to_numpy(out), [3] * 5)
    with pytest.raises(eagle.PlaneError, match="int64"):
        bound.rebind(x=device.array(np.zeros(5), np.int64))
    bound.launch()
    np.testing.assert_array_equal(device.to_numpy(out), [3] * 5)


@pytest.mark.host_only("only arrays of NumPy's are copied")
def test_a_rebind_holds_in_the_graphs_it_stands_in(x: np.ndarray) -> None:
    other = np.full(7, 4.0)
    bound = eagle.deploy(kernels.bump).bind(x=x)
    built = eagle.Graph().add(bound, name="bump").build()
    waiting = eagle.Graph().add(bound)
    before = x.copy()
    bound.rebind(x=other)
    built.launch(2)
    waiting.build().launch()
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(other, [7.0] * 7)
    assert built.node_labels() == ("bump",)
    with pytest.raises(eagle.PlaneError, match="copied before every launch"), pytest.warns(eagle.CopyWarning):
        bound.rebind(x=np.zeros(20)[::2])
    built.launch()
    assert (other == 8).all()


def test_a_rebind_that_would_change_who_waits_is_refused(device: Any) -> None:
    x, y, z = (device.array(np.zeros(5)) for _ in range(3))
    first, second = eagle.deploy(kernels.bump).bind(x=x), eagle.deploy(kernels.bump).bind(x=y)
    g = eagle.Graph().add(first, name="first").add(second, name="second").build()
    with pytest.raises(eagle.GraphError, match="wait for other nodes"):
        second.rebind(x=x)
    g.launch()
    assert (device.to_numpy(y) == 1).all()
    second.rebind(x=z)
    g.launch()
    assert (device.to_numpy(z) == 1).all()
    assert (device.to_numpy(y) == 1).all()


def test_a_rebind_inside_a_conditional_is_refused(device: Any, x: np.ndarray) -> None:
    plane, guard = device.put(x), device.array(np.ones(1))
    bound = eagle.deploy(kernels.bump).bind(x=plane)
    g = eagle.Graph().add_node(eagle.graph.skippable(bound, eagle.graph.SkipGuard(guard))).build()
    with pytest.raises(eagle.GraphError, match="stands inside it"):
        bound.rebind(x=device.array(np.zeros(5)))
    g.launch()
    np.testing.assert_array_equal(device.to_numpy(plane), x + 1)


def test_branches_that_would_race_after_a_rebind_are_refused(device: Any) -> None:
    x, y = device.array(np.zeros(5)), device.array(np.zeros(5))
    first, second = eagle.deploy(kernels.bump).bind(x=x), eagle.deploy(kernels.bump).bind(x=y)
    g = eagle.Graph().add_group([first, second]).build()
    with pytest.raises(eagle.RaceError, match="race"):
        second.rebind(x=x)
    g.launch()
    assert (device.to_numpy(y) == 1).all()
