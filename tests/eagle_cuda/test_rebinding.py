"""Launches bound to other arrays after the build: the nodes of the graph are patched in place."""

from __future__ import annotations

from typing import Any

import kernels
import numpy as np
import pytest
from cuda_arrays import DeviceArray

import eagle


@pytest.fixture
def planes() -> dict[str, Any]:
    return {"x": DeviceArray(np.arange(5.0)), "out": DeviceArray(np.zeros(5))}


def test_a_rebind_patches_the_node_and_builds_nothing(device: Any, planes: dict[str, Any]) -> None:
    bound = eagle.deploy(kernels.scale).bind(factor=2.0, **planes)
    g = eagle.Graph().add(bound).build()
    g.launch()
    device.reset()
    other = DeviceArray(np.full(300, 7.0)), DeviceArray(np.zeros(300))
    bound.rebind(x=other[0], out=other[1], factor=3)
    g.launch()
    calls = device.calls()
    assert calls["cuGraphExecKernelNodeSetParams"] == 1
    assert not {"cuGraphInstantiate", "cuGraphCreate", "cuModuleLoadData"} & set(calls)
    np.testing.assert_array_equal(other[1].to_numpy(), [21.0] * 300)
    np.testing.assert_array_equal(planes["out"].to_numpy(), 2 * np.arange(5.0))


def test_queued_runs_keep_the_arrays_they_were_queued_with(device: Any, planes: dict[str, Any]) -> None:
    bound = eagle.deploy(kernels.scale).bind(factor=2.0, **planes)
    g = eagle.Graph().add(bound).build().enqueue()
    out = DeviceArray(np.zeros(5))
    bound.rebind(out=out)
    g.synchronize()
    assert (out.to_numpy() == 0).all()
    np.testing.assert_array_equal(planes["out"].to_numpy(), 2 * np.arange(5.0))


def test_a_rebind_from_no_samples_builds_anew(device: Any) -> None:
    nothing = {"x": DeviceArray(np.zeros(0)), "out": DeviceArray(np.zeros(0))}
    bound = eagle.deploy(kernels.scale).bind(factor=2.0, **nothing).launch()
    x, out = DeviceArray(np.ones(3)), DeviceArray(np.zeros(3))
    bound.rebind(x=x, out=out).launch()
    assert (out.to_numpy() == 2).all()


def test_a_rebind_to_another_device_is_refused(device: Any, planes: dict[str, Any]) -> None:
    bound = eagle.deploy(kernels.scale).bind(factor=2.0, **planes)
    g = eagle.Graph().add(bound).build()
    with pytest.raises(eagle.EagleError, match="disagrees with where the planes live"):
        bound.rebind(x=np.zeros(5), out=np.zeros(5))
    g.launch()
    np.testing.assert_array_equal(planes["out"].to_numpy(), 2 * np.arange(5.0))
