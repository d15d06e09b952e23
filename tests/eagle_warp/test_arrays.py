"""Warp's arrays as planes: in place, of every kind of element, or refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from warp_kernels import Point

import eagle
import hawk
from eagle.graph import opaque
from eagle.plugin import PlaneError, adapter_of
from eagle_warp.arrays import WarpArrays
from hawk import Mutable, Scalar


@hawk.kernel
def twice(x: Scalar):
    return x * 2


@hawk.kernel
def halve(x: Mutable[Scalar]):
    x *= 0.5


def array(values: Any, dtype: Any = float) -> Any:
    return wp.array(values, dtype=dtype, device="cpu")


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "int64", "uint16", "bool"])
def test_a_plane_is_where_numpys_view_of_the_array_is(kind: str) -> None:
    x = wp.zeros((3, 4), dtype=getattr(wp, kind), device="cpu")
    view, memory = x.numpy(), adapter_of(x).describe(x)
    assert isinstance(adapter_of(x), WarpArrays)
    assert (memory.address, memory.shape, memory.strides) == (view.ctypes.data, view.shape, view.strides)
    assert (memory.dtype, memory.device, memory.readonly) == (view.dtype.name, ("cpu", 0), None)


@pytest.mark.parametrize("kind", [wp.vec3, wp.mat22d, wp.quat, wp.transform], ids=lambda kind: kind.__name__)
def test_the_axes_of_vectors_and_matrices_come_last(kind: Any) -> None:
    x = wp.zeros(5, dtype=kind, device="cpu")
    view, memory = x.numpy(), adapter_of(x).describe(x)
    assert (memory.address, memory.shape, memory.strides) == (view.ctypes.data, view.shape, view.strides)
    assert memory.dtype == view.dtype.name


def test_bfloat16_and_structures_are_known_by_their_bytes() -> None:
    narrow, points = wp.zeros(3, dtype=wp.bfloat16, device="cpu"), wp.zeros(3, dtype=Point, device="cpu")
    memory = adapter_of(narrow).describe(narrow)
    assert (memory.dtype, memory.itemsize, memory.shape) == ("bfloat16", 2, (3,))
    memory = adapter_of(points).describe(points)
    assert (memory.itemsize, memory.shape, memory.strides) == (16, (3,), (16,))
    assert "mass" in memory.dtype


def test_strided_views_overlap_exactly_where_they_share_bytes() -> None:
    x = array(np.arange(8.0))
    g = eagle.Graph()
    g.add_node(opaque(lambda: None, writes={"even": x[::2]}))
    g.add_node(opaque(lambda: None, writes={"odd": x[1::2]}))
    g.add_node(opaque(lambda: None, reads={"numpy": x.numpy()[3:4]}))
    assert [(edge.src, edge.dst) for edge in g.edges()] == [(1, 2)]


def test_a_kernel_writes_into_the_array_itself() -> None:
    x = array([2.0, 4.0], wp.float64)
    eagle.Graph().add(eagle.deploy(halve).bind(x=x)).build().launch()
    assert x.numpy().tolist() == [1.0, 2.0]


def test_a_plan_without_an_output_array_allocates_one_of_warps() -> None:
    out = eagle.deploy(twice).run(x=array([1.0, 2.0], wp.float64))
    assert isinstance(out, wp.array)
    assert out.numpy().tolist() == [2.0, 4.0]


def test_a_guard_and_a_reduction_read_warps_arrays() -> None:
    x, total, flag = array([1.0, 2.0], wp.float64), wp.zeros(1, dtype=wp.float64, device="cpu"), array([0], wp.int32)
    skipped = eagle.skippable(opaque(lambda: x.fill_(9.0), writes={"x": x}), eagle.SkipGuard.nonzero(flag))
    eagle.Graph().add_node(skipped).add_node(eagle.reduce(x, total)).build().launch()
    assert total.numpy()[0] == 3.0


def test_an_empty_array_is_a_plane() -> None:
    x = wp.zeros(0, dtype=float, device="cpu")
    assert adapter_of(x).describe(x).shape == (0,)


def test_an_indexed_array_is_refused_by_name() -> None:
    picked = wp.indexedarray(array(np.arange(4.0)), [array([0, 2], int)])
    with pytest.raises(PlaneError, match=r"node 'look', plane 'x': a Warp indexedarray .* Copy it with its contiguous"):
        eagle.Graph().add_node(opaque(lambda: None, reads={"x": picked}), name="look")


def test_an_annotation_is_refused_by_name() -> None:
    with pytest.raises(PlaneError, match="plane 'x': the Warp array is an annotation"):
        eagle.Graph().add_node(opaque(lambda: None, reads={"x": wp.array(dtype=float)}))


def test_an_array_that_moved_is_refused_at_launch() -> None:
    memory = np.ones(8)
    x = wp.array(memory[:4], dtype=wp.float64, device="cpu", copy=False)
    g = eagle.Graph().add(eagle.deploy(halve).bind(x=x)).build()
    x.ptr += 8
    with pytest.raises(PlaneError, match="node 'halve', plane 'x': the array moved or was resized"):
        g.launch()
