"""GraphPipeline on the device: recorded once, replayed, in order with the caller's stream."""

from __future__ import annotations

import sys
from functools import partial

import cuda_frame
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice
from cuda_emulator import Emulator
from cuda_own import own_stream

import eagle
from eagle import GraphPipeline

DEVICE = CudaDevice()
N = 8


def test_steps_are_recorded_once_and_replayed_in_order(device: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    calls: list[str] = []
    work = {"double": DEVICE.scale(x, 2.0, x), "shift": DEVICE.shift(x, 1.0, x)}

    def step(name: str) -> None:
        calls.append(name)
        work[name]()

    before = dict(eagle.counters())
    pipe = GraphPipeline()
    pipe.add(partial(step, "double"), name="double")
    pipe.add(partial(step, "shift"), name="shift")
    assert pipe.build() is pipe
    assert (pipe.backend, pipe.captures, pipe.graph_builds) == ("gpu", 1, 1)
    assert eagle.counters()["captures"] == before["captures"] + 1
    assert x.to_numpy()[0] == 1.0
    pipe.launch(n=3)
    assert calls == ["double", "shift"]
    assert x.to_numpy().tolist() == [15.0] * N


def test_it_is_in_order_with_the_callers_stream(device: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.zeros(N))
    pipe = GraphPipeline().add(DEVICE.scale(x, 2.0, x)).add(DEVICE.shift(x, 1.0, x)).build()
    produce, consume, spoil = DEVICE.fill(x, 5.0), DEVICE.shift(x, 0.0, y), DEVICE.fill(x, 0.0)
    with own_stream() as stream, cuda_frame.use(stream):
        produce()
        pipe.enqueue(2)
        consume()
        spoil()
        pipe.synchronize()
    assert y.to_numpy()[0] == 23.0


def test_a_replay_accumulates_as_often_as_it_is_launched(device: Emulator) -> None:
    out, force = DeviceArray(np.zeros(N)), DeviceArray(np.full(N, 0.5))
    pipe = GraphPipeline().add(DEVICE.add(out, force, out)).build().launch(n=5)
    assert out.to_numpy().tolist() == [2.5] * N
    assert pipe.launch(0) is pipe
    assert out.to_numpy()[0] == 2.5


def test_a_step_that_launches_nothing_is_refused_and_the_host_can_run_it(
    unordered: Emulator, nothing_left: None
) -> None:
    host = np.zeros(2)
    x = DeviceArray(np.ones(N))
    pipe = GraphPipeline().add(DEVICE.scale(x, 2.0, x)).add(lambda: np.add(host, 1, out=host), name="host code")
    with pytest.raises(eagle.BuildError, match=r"'host code'.*launched nothing .*build\(backend='cpu'\)"):
        pipe.build()
    host[:] = 0
    pipe.build(backend="cpu").launch(2)
    assert host[0] == 2
    assert x.to_numpy()[0] == 4.0
    assert pipe.captures == 0


def test_a_step_that_cannot_be_recorded_is_refused_by_name(unordered: Emulator, nothing_left: None) -> None:
    x = DeviceArray(np.ones(N))
    pipe = GraphPipeline().add(DEVICE.scale(x, 2.0, x)).add(lambda: x.to_numpy(), name="reads back")
    with pytest.raises(eagle.BuildError, match="'reads back'"):
        pipe.build()


def test_without_a_library_that_is_imported_the_host_calls_the_steps(
    unordered: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "cuda_frame")
    calls: list[int] = []
    pipe = GraphPipeline().add(lambda: calls.append(1)).build().launch(2)
    assert (pipe.backend, len(calls)) == ("cpu", 2)
