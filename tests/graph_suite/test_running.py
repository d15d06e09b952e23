"""Graphs give what their nodes give one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
from eagle.graph import opaque

Device = Any


def test_two_nodes_run_in_the_order_their_memory_asks_for(device: Device) -> None:
    x, y, z = device.array([1, 2, 3]), device.array([0, 0, 0]), device.array([0, 0, 0])
    g = eagle.Graph()
    g.add_node(opaque(device.scale(x, 2.0, y), reads={"x": x}, writes={"y": y}), name="double")
    g.add_node(opaque(device.shift(y, 1.0, z), reads={"y": y}, writes={"z": z}), name="shift")
    g.build().launch()
    np.testing.assert_array_equal(device.to_numpy(z), [3, 5, 7])
    assert g.backend == device.name


def test_launch_n_runs_n_times(device: Device) -> None:
    x = device.array([0.0, 10.0])
    g = eagle.Graph().add_node(opaque(device.shift(x, 1.0, x), reads={"x": x}, writes={"x": x})).build()
    g.launch(5).launch(0).launch(np.int32(2))
    np.testing.assert_array_equal(device.to_numpy(x), [7, 17])


def test_enqueue_then_synchronize_is_launch(device: Device) -> None:
    x = device.array([0.0])
    g = eagle.Graph().add_node(opaque(device.shift(x, 1.0, x), reads={"x": x}, writes={"x": x})).build()
    g.enqueue(2).enqueue().synchronize()
    np.testing.assert_array_equal(device.to_numpy(x), [3])


def test_a_group_joins_before_what_follows(device: Device) -> None:
    x, left, right, out = (device.array([1.0, 2.0]) for _ in range(4))
    g = eagle.Graph()
    g.add_node(opaque(device.fill(x, 3.0), writes={"x": x}), name="seed")
    g.add_group(
        [
            opaque(device.scale(x, 2.0, left), reads={"x": x}, writes={"left": left}),
            [
                opaque(device.scale(x, 10.0, right), reads={"x": x}, writes={"right": right}),
                opaque(device.shift(right, 1.0, right), reads={"right": right}, writes={"right": right}),
            ],
        ],
        names=["left", "right"],
    )
    g.add_node(
        opaque(device.add(left, right, out), reads={"left": left, "right": right}, writes={"out": out}), name="combine"
    )
    g.build().launch()  # once first: repetitions would find what the one before has left
    np.testing.assert_array_equal(device.to_numpy(out), [37, 37])
    g.launch(3)
    np.testing.assert_array_equal(device.to_numpy(out), [37, 37])
    assert len(g.schedule) == 3


def test_nodes_without_planes_keep_the_order_of_adding(device: Device) -> None:
    x = device.array([1.0])
    g = eagle.Graph()
    for by in (1.0, 2.0, 3.0):
        g.add_node(opaque(device.shift(x, by, x)))
        g.add_node(opaque(device.scale(x, 2.0, x)))
    g.add_node(opaque(lambda: None, reads={"x": x}))
    g.build().launch()
    np.testing.assert_array_equal(device.to_numpy(x), [((1 + 1) * 2 + 2) * 2 * 2 + 6])


def test_copies_follow_memory_and_nothing_else(device: Device) -> None:
    a, b, c = device.array([1.0, 2.0]), device.array([0.0, 0.0]), device.array([0.0, 0.0])
    g = eagle.Graph()
    g.add_node(eagle.copy(a, into=b)).add_node(eagle.copy(b, into=c)).add_node(eagle.copy(c, into=a))
    g.build().launch()
    for array in (a, b, c):
        np.testing.assert_array_equal(device.to_numpy(array), [1, 2])


def test_a_copy_takes_any_strides(device: Device) -> None:
    matrix = device.array(np.arange(12.0).reshape(3, 4))
    out = device.array(np.zeros((4, 3)))
    g = eagle.Graph()
    g.add_node(
        eagle.copy(
            device.view(matrix, slice(None, None, -1), slice(None, None, 2)),
            into=device.view(out, slice(0, 3), slice(0, 2)),
        )
    )
    g.build().launch()
    np.testing.assert_array_equal(device.to_numpy(out)[:3, :2], np.arange(12.0).reshape(3, 4)[::-1, ::2])


def test_a_node_may_stand_in_several_places_and_graphs(device: Device) -> None:
    x = device.array([1.0])
    node = opaque(device.scale(x, 3.0, x), reads={"x": x}, writes={"x": x}, name="triple")
    first = eagle.Graph().add_node(node).add_node(node).build().launch()
    eagle.Graph().add_node(node).build().launch()
    np.testing.assert_array_equal(device.to_numpy(x), [27])
    assert first.node_labels() == ("triple", "triple_2")


def test_stated_backend_is_taken_when_it_agrees(device: Device) -> None:
    x = device.array([1.0])
    assert eagle.Graph().add_node(opaque(device.fill(x, 2.0), writes=x)).build(device.name).backend == device.name


def test_an_unknown_build_option_is_refused(device: Device) -> None:
    x = device.array([1.0])
    g = eagle.Graph().add_node(opaque(device.fill(x, 2.0), writes=x))
    with pytest.raises(eagle.BuildError, match="shiny"):
        g.build(shiny=True)
    assert g.build().backend == device.name
