"""Graphs that Warp captured on the CPU, as child graphs there."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import warp as wp
import warp_kernels as kernels

import eagle
from eagle.graph import child, opaque


def captured(x: Any, y: Any) -> Any:
    """A graph of ``y += 2 * x``, twice; capturing it runs it once."""
    with wp.ScopedCapture(device="cpu") as capture:
        for _ in range(2):
            wp.launch(kernels.saxpy, len(x), inputs=[2.0, x], outputs=[y], device="cpu")
    return capture.graph


@pytest.fixture
def x() -> Any:
    return wp.array(np.ones(4), dtype=float, device="cpu")


@pytest.fixture
def y() -> Any:
    return wp.zeros(4, dtype=float, device="cpu")


def test_a_child_runs_in_its_place(x: Any, y: Any) -> None:
    graph = captured(x, y)
    y.zero_()
    before = opaque(lambda: y.fill_(100.0), writes={"y": y}, name="before")
    after = opaque(lambda: np.multiply(y.numpy(), 2, out=y.numpy()), reads={"y": y}, writes={"y": y}, name="after")
    g = eagle.Graph().add_node(before)
    g.add_node(child(graph, reads={"x": x, "y": y}, writes={"y": y}), name="model")
    g.add_node(after).build().launch()
    assert y.numpy().tolist() == [208.0] * 4
    x.fill_(0.5)
    g.launch()
    assert y.numpy().tolist() == [204.0] * 4
    assert "[child]" in str(g)


def test_the_owner_lives_as_long_as_the_graph(x: Any, y: Any) -> None:
    graph = captured(x, y)
    alive = weakref.ref(graph)
    g = eagle.Graph().add_node(child(graph, reads={"x": x}, writes={"y": y})).build()
    del graph
    gc.collect()
    y.zero_()
    g.launch()
    assert y.numpy()[0] == 4.0
    del g
    gc.collect()
    assert alive() is None


def test_a_graph_that_was_replaced_is_refused_at_launch(x: Any, y: Any) -> None:
    graph, other = captured(x, y), captured(x, y)
    g = eagle.Graph().add_node(child(graph, reads={"x": x}, writes={"y": y}), name="model").build().launch()
    graph.apic_state = other.apic_state
    with pytest.raises(eagle.BuildError, match="node 'model': the child graph was reset or captured again"):
        g.launch()


def test_a_graph_without_a_capture_is_refused(y: Any) -> None:
    empty = wp.Graph(wp.get_device("cpu"))
    with pytest.raises(eagle.BuildError, match="node 'model': the Warp graph holds no capture"):
        eagle.Graph().add_node(child(empty, writes={"y": y}), name="model").build()


def test_anything_else_is_left_to_other_frameworks(y: Any) -> None:
    with pytest.raises(eagle.BuildError, match="no installed plugin knows a child graph of a int"):
        eagle.Graph().add_node(child(3, writes={"y": y}), name="model").build()
