"""Copies of any layout, on the device and over its boundary, against NumPy."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_own import call

import eagle
from eagle.graph import opaque

Cuda = Any
Array = np.ndarray[Any, Any]
DTYPES = ["float64", "float32", "int16", "int8", "V3", "V12"]


@dataclass
class View:
    """A view of some shape into a larger array, which is in host memory or on the device."""

    base: Array
    cut: tuple[slice, ...]
    axes: tuple[int, ...]
    on_device: Any

    @property
    def array(self) -> Any:
        """The view itself."""
        if self.on_device is None:
            return self.of(self.base)
        cut = self.on_device[(*self.cut, ...)]
        cut.shape = tuple(cut.shape[axis] for axis in self.axes)
        cut.strides = tuple(cut.strides[axis] for axis in self.axes)
        return cut

    def of(self, base: Array) -> Array:
        """The same view of another array."""
        cut: Array = base[self.cut].transpose(self.axes) if self.cut else base
        return cut

    def bytes(self) -> bytes:
        """All bytes of the larger array, now."""
        return (self.base if self.on_device is None else self.on_device.to_numpy()).tobytes()


def view(rng: random.Random, shape: tuple[int, ...], dtype: Any, *, device: bool) -> View:
    axes = list(range(len(shape)))
    rng.shuffle(axes)
    cuts, sizes = [], []
    for count in (shape[axes.index(axis)] for axis in range(len(shape))):
        step, start = rng.choice([1, 2, -1]), rng.randint(0, 1)
        size = start + abs(step) * (count - 1) + 1 + rng.randint(0, 1)
        forwards = slice(start, start + abs(step) * (count - 1) + 1, abs(step))
        cuts.append(forwards if step > 0 else slice(start + count - 1, start - 1 if start else None, -1))
        sizes.append(size)
    raw = rng.randbytes(int(np.prod(sizes, dtype=int)) * dtype.itemsize)
    base = np.frombuffer(raw, dtype).reshape(sizes).copy()
    return View(base, tuple(cuts), tuple(axes), DeviceArray(base) if device else None)


@pytest.mark.parametrize("way", ["device to device", "host to device", "device to host"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_layouts_are_copied_and_their_neighbours_left_alone(cuda: Cuda, seed: int, way: str, dtype: str) -> None:
    rng = random.Random(f"{seed} {way} {dtype}")
    from_device, to_device = way.startswith("device"), way.endswith("device")
    for _ in range(6):
        shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(0, 4)))
        src, into = (view(rng, shape, np.dtype(dtype), device=device) for device in (from_device, to_device))
        expected = into.base.copy()
        into.of(expected)[...] = src.of(src.base)
        eagle.Graph().add_node(eagle.copy(src.array, into=into.array)).build().launch()
        assert into.bytes() == expected.tobytes(), (shape, src.array.strides, into.array.strides)


def test_a_contiguous_array_is_one_copy_node_and_needs_no_kernel(cuda: Cuda, emulator: Any) -> None:
    a, b = (cuda.array(np.ones((5, 6, 7))) for _ in range(2))
    g = eagle.Graph().add_node(eagle.copy(a, into=b))
    emulator.reset()
    g.build()
    assert emulator.calls().get("cuGraphAddMemcpyNode", 0) == 1
    assert not any("KernelNode" in name for name in emulator.calls())


def test_nothing_is_copied_of_an_empty_array(cuda: Cuda) -> None:
    a, b = cuda.array([]), cuda.array([])
    x, y = cuda.array([1.0]), cuda.array([0.0])
    eagle.Graph().add_node(eagle.copy(a, into=b)).add_node(eagle.copy(x, into=y)).build().launch()
    assert y.to_numpy()[0] == 1


def test_the_host_sees_what_was_copied_to_it_and_the_device_what_the_host_wrote_before_the_launch(
    cuda: Cuda, seed: int
) -> None:
    host, back, x = np.zeros(4), np.zeros(4), cuda.array(np.zeros(4))
    g = eagle.Graph().add_node(eagle.copy(host, into=x))
    g.add_node(opaque(cuda.scale(x, 3.0, x), reads={"x": x}, writes={"x": x})).add_node(eagle.copy(x, into=back))
    g.build()
    for turn in (1.0, 2.0):
        host[:] = turn
        g.launch()
        np.testing.assert_array_equal(back, 3 * turn)


def test_arrays_that_were_dropped_live_until_the_graph_goes(cuda: Cuda) -> None:
    g = eagle.Graph().add_node(eagle.copy(cuda.array([1.0, 2.0]), into=cuda.array([0.0, 0.0]))).build()
    g.launch().enqueue(3)
    del g


def test_pageable_memory_is_refused_in_a_body_and_pinned_memory_taken(cuda: Cuda, seed: int) -> None:
    x, on = cuda.array([1.0, 2.0]), cuda.array([1], np.int32)
    guard = eagle.SkipGuard.nonzero(on)
    g = eagle.Graph().add_node(eagle.skippable(eagle.copy(x, into=np.zeros(2)), guard), name="maybe")
    with pytest.raises(eagle.BuildError, match=r"plane 'into': a copy inside a conditional .* ordinary host memory"):
        g.build()
    address = int(call("cuMemHostAlloc", 16, 0x02))
    pinned = np.ctypeslib.as_array((ctypes.c_double * 2).from_address(address))
    pinned[:] = 0
    eagle.Graph().add_node(eagle.skippable(eagle.copy(x, into=pinned), guard)).build().launch()
    np.testing.assert_array_equal(pinned, [1, 2])
    call("cuMemFreeHost", address)
