"""Sums on the device have the bits of those on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray

import eagle
from eagle.graph import opaque

Cuda = Any


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("count", [1, 63, 64, 65, 100, 4095, 4096, 4097, 9000])
def test_a_sum_has_the_bits_of_the_hosts(cuda: Cuda, dtype: str, count: int) -> None:
    rng = np.random.default_rng(count)
    if dtype.startswith("float"):
        values = (rng.standard_normal(count) * 10.0 ** rng.integers(-12, 12, count)).astype(dtype)
    else:
        values = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype)
    x, out, on_host = cuda.array(values, dtype), cuda.array([0], dtype), np.zeros(1, dtype)
    eagle.Graph().add_node(eagle.reduce(x, out)).build().launch()
    eagle.Graph().add_node(eagle.reduce(values, on_host)).build().launch()
    assert out.to_numpy().tobytes() == on_host.tobytes()


def test_an_element_need_not_be_aligned(cuda: Cuda) -> None:
    packed = DeviceArray(np.array([(1, 2.5), (2, 4.0)], np.dtype([("tag", "u1"), ("value", "<f8")])))
    packed._address, packed.dtype = packed._address + 1, np.dtype(np.float64)
    out = cuda.array([0.0])
    eagle.Graph().add_node(eagle.reduce(packed, out)).build().launch()
    assert out.to_numpy()[0] == 6.5


def test_any_byte_but_zero_is_true(cuda: Cuda) -> None:
    for values, every, some in (([2, 4], 1, 1), ([0, 4], 0, 1), ([0, 0], 0, 0)):
        x, outs = cuda.array(values, np.uint8), [cuda.array([7], np.uint8) for _ in range(2)]
        for array in (x, *outs):
            array.dtype = np.dtype(bool)
        g = eagle.Graph().add_node(eagle.reduce(x, outs[0], "all")).add_node(eagle.reduce(x, outs[1], "any"))
        g.build().launch()
        assert [out.to_numpy().view(np.uint8)[0] for out in outs] == [every, some]


def test_a_reduction_runs_in_a_loop(cuda: Cuda, seed: int) -> None:
    x, left = cuda.array([1.0, 1.0, 1.0]), cuda.array([1.0])
    g = eagle.Graph()
    lower = opaque(cuda.shift(x[:1], -1.0, x[:1]), reads={"x": x[:1]}, writes={"x": x[:1]})
    loop = eagle.repeat_while((lower, eagle.reduce(x, left)), eagle.SkipGuard.nonzero(left))
    g.add_node(loop).build().launch()
    assert (loop.iterations, x.to_numpy()[0]) == (3, -2)
