"""Where planes may be: in the memory of one device, in its primary context, where they were when they were added."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice
from cuda_emulator import Emulator
from cuda_own import call, leaves_nothing, use_device

import eagle
from eagle.graph import opaque
from eagle_cuda import planes

DEVICE = CudaDevice()
N = 8


@contextmanager
def on_device(ordinal: int) -> Iterator[None]:
    """Work on another device for a while."""
    before = call("cuCtxGetCurrent")
    use_device(ordinal)
    try:
        yield
    finally:
        call("cuCtxSetCurrent", before)


class Claims:
    """Something that claims to be an array at an address."""

    def __init__(self, address: int, *, read_only: bool = False) -> None:
        self.address, self.read_only = address, read_only

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (N,), "typestr": "<f8", "data": (self.address, self.read_only), "version": 3}


def touching(**planes: object) -> eagle.Graph:
    return eagle.Graph().add_node(opaque(lambda: None, reads=planes), name="touch")


@pytest.fixture
def other(unordered: Emulator) -> int:
    """The ordinal of a second device."""
    if unordered.devices < 2:
        pytest.skip("there is one device")
    return 1


def test_planes_on_two_devices_are_refused_naming_both(unordered: Emulator, other: int) -> None:
    x = DeviceArray(np.ones(N))
    with on_device(other):
        y = DeviceArray(np.ones(N))
    g = touching(x=x).add_node(opaque(lambda: None, reads={"y": y}), name="far")
    with (
        leaves_nothing(unordered),
        pytest.raises(eagle.PlaneError, match=r"node 'far', plane 'y'.*device 1.*'x' of node 'touch' is on device 0"),
    ):
        g.build()


def test_a_graph_runs_on_the_device_its_planes_are_on_whatever_is_current(unordered: Emulator, other: int) -> None:
    with on_device(other):
        x, y = DeviceArray(np.arange(float(N))), DeviceArray(np.zeros(N))
    use_device(0)
    before = int(call("cuCtxGetCurrent"))
    g = eagle.Graph().add_node(eagle.copy(x, into=y)).build().launch()
    assert int(call("cuCtxGetCurrent")) == before
    assert y.to_numpy().tolist() == list(range(N))
    with on_device(other):
        theirs = int(call("cuCtxGetCurrent"))
        g.launch()
        assert int(call("cuCtxGetCurrent")) == theirs
    del g
    assert int(call("cuCtxGetCurrent")) == before


def test_without_a_current_context_a_graph_builds_and_runs_and_none_is_left(unordered: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.zeros(N))
    before = call("cuCtxGetCurrent")
    call("cuCtxSetCurrent", 0)
    try:
        eagle.Graph().add_node(eagle.copy(x, into=y)).build().launch()
        assert int(call("cuCtxGetCurrent")) == 0
    finally:
        call("cuCtxSetCurrent", before)
    assert y.to_numpy()[0] == 1.0


def test_a_plane_of_another_context_is_refused_by_name(unordered: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated device has primary contexts only, so that the driver's answer is stood in for."""
    x = DeviceArray(np.ones(N))
    monkeypatch.setattr(planes, "place_of", lambda address: planes.Place(0, 0xDEAD))
    with pytest.raises(eagle.PlaneError, match=r"node 'touch', plane 'x'.*context .* not the primary one"):
        touching(x=x).build()


def test_an_address_the_driver_does_not_know_is_refused_by_name(unordered: Emulator) -> None:
    host = np.ones(N)
    with pytest.raises(eagle.PlaneError, match=r"node 'touch', plane 'x'.*the driver does not know its address"):
        touching(x=Claims(host.ctypes.data)).build()


def test_memory_that_was_freed_is_refused_by_name(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    claims = Claims(x.address)
    del x
    with pytest.raises(eagle.PlaneError, match=r"node 'touch', plane 'x'"):
        touching(x=claims).build()


def test_an_array_that_moved_before_the_build_is_refused(unordered: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.ones(N))
    claims = Claims(x.address)
    g = touching(x=claims)
    claims.address = y.address
    with leaves_nothing(unordered), pytest.raises(eagle.PlaneError, match=r"'touch', plane 'x'.*moved or was resized"):
        g.build()


@pytest.mark.parametrize("call_name", ["launch", "enqueue"])
def test_an_array_that_moved_is_refused_before_anything_runs(unordered: Emulator, call_name: str) -> None:
    x, y, other = (DeviceArray(np.ones(N)) for _ in range(3))
    claims = Claims(x.address)
    g = eagle.Graph().add_node(opaque(DEVICE.scale(y, 2.0, y), reads={"y": y}, writes={"y": y}))
    g.add_node(opaque(DEVICE.scale(x, 2.0, x), reads={"x": claims}, writes={"x": claims}), name="touch")
    g.build().launch()
    claims.address = other.address
    with pytest.raises(eagle.PlaneError, match=r"'touch', plane 'x'.*moved or was resized"):
        getattr(g, call_name)()
    g.synchronize()
    assert y.to_numpy()[0] == 2.0
    claims.address = x.address
    g.launch()
    assert (x.to_numpy()[0], y.to_numpy()[0], other.to_numpy()[0]) == (4.0, 4.0, 1.0)


def test_a_read_only_array_is_not_written(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    with pytest.raises(eagle.PlaneError, match="'touch', plane 'x'"):
        eagle.Graph().add_node(opaque(lambda: None, writes={"x": Claims(x.address, read_only=True)}), name="touch")


def test_a_backend_that_disagrees_with_the_planes_is_refused(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    with pytest.raises(eagle.GraphError, match=r"backend 'cpu' disagrees .* CUDA device memory"):
        touching(x=x).build("cpu")
    with pytest.raises(eagle.GraphError, match=r"backend 'gpu' disagrees .* host memory"):
        touching(x=np.ones(2)).build("gpu")
    with pytest.raises(eagle.GraphError, match="mixes memory of several devices"):
        touching(x=x, y=np.ones(2)).build()


def test_an_option_is_refused(unordered: Emulator) -> None:
    with (
        leaves_nothing(unordered),
        pytest.raises(eagle.BuildError, match="backend 'gpu' has no build option 'turbo'"),
    ):
        touching(x=DeviceArray(np.ones(N))).build(turbo=True)
