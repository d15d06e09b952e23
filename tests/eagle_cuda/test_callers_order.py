"""A launch comes after what the caller queued before it, and before what the caller queues after it; the host waits for
neither. Nothing that is queued runs on the emulated device before something waits, so every producer is a late one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import cuda_frame
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice
from cuda_emulator import Emulator
from cuda_own import done, own_stream, use_device

import eagle
import eagle_cuda
from eagle.graph import opaque
from eagle.plugin import Framework, Streams, hookimpl
from eagle.testing import registered

DEVICE = CudaDevice()
N = 32


class Chain:
    """``y = 2 x`` as a graph, a producer of ``x`` and a consumer of ``y``."""

    def __init__(self) -> None:
        self.x, self.y, self.z = (DeviceArray(np.zeros(N)) for _ in range(3))
        self.produce = DEVICE.fill(self.x, 3.0)
        self.consume = DEVICE.shift(self.y, 1.0, self.z)
        self.spoil = DEVICE.fill(self.x, 100.0)
        work = DEVICE.scale(self.x, 2.0, self.y)
        self.graph = eagle.Graph()
        self.graph.add_node(opaque(work, reads={"x": self.x}, writes={"y": self.y}), name="double").build()


@pytest.fixture
def chain(device: Emulator) -> Chain:
    return Chain()


@pytest.mark.parametrize("blocking", [False, True])
def test_a_producer_and_a_consumer_on_the_callers_stream_are_in_order(chain: Chain, blocking: bool) -> None:
    with own_stream(blocking=blocking) as stream, cuda_frame.use(stream):
        chain.produce()
        chain.graph.enqueue()
        chain.consume()
        chain.spoil()
    assert chain.z.to_numpy().tolist() == [7.0] * N
    assert chain.y.to_numpy().tolist() == [6.0] * N


def test_on_the_legacy_stream_they_are_in_order(chain: Chain) -> None:
    chain.produce()
    chain.graph.enqueue()
    chain.consume()
    chain.spoil()
    assert chain.z.to_numpy().tolist() == [7.0] * N


def test_the_host_waits_for_nothing(chain: Chain, device: Emulator) -> None:
    with own_stream() as stream, cuda_frame.use(stream):
        chain.produce()
        waiting = device.pending()
        chain.graph.enqueue(3)
        chain.consume()
        assert device.pending() > waiting
        assert not done(stream)


def test_launch_waits_for_the_producer_too(chain: Chain) -> None:
    with own_stream() as stream, cuda_frame.use(stream):
        chain.produce()
        chain.graph.launch()
        assert chain.y.to_numpy().tolist() == [6.0] * N


def test_runs_queued_one_after_another_each_see_what_was_queued_between_them(chain: Chain) -> None:
    seen = [DeviceArray(np.zeros(N)) for _ in range(3)]
    copies = [DEVICE.shift(chain.y, 0.0, one) for one in seen]
    again = DEVICE.shift(chain.y, 1.0, chain.x)
    with own_stream() as stream, cuda_frame.use(stream):
        chain.produce()
        for copy in copies:
            chain.graph.enqueue()
            copy()
            again()
    assert [one.to_numpy()[0] for one in seen] == [6.0, 14.0, 30.0]


def test_two_graphs_on_two_streams_keep_the_order_of_the_streams(device: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.zeros(N))
    double = eagle.Graph().add_node(opaque(DEVICE.scale(x, 2.0, x), reads={"x": x}, writes={"x": x})).build()
    store = eagle.Graph().add_node(opaque(DEVICE.shift(x, 0.0, y), reads={"x": x}, writes={"y": y})).build()
    with own_stream() as stream, cuda_frame.use(stream):
        for _ in range(5):
            double.enqueue()
        store.enqueue()
        double.enqueue()
    assert y.to_numpy()[0] == 32.0
    assert x.to_numpy()[0] == 64.0


def test_each_thread_is_in_order_with_its_own_stream(device: Emulator) -> None:
    chains = [Chain() for _ in range(3)]
    failed: list[BaseException] = []

    def work(chain: Chain) -> None:
        try:
            use_device()
            with own_stream() as stream, cuda_frame.use(stream):
                chain.produce()
                chain.graph.enqueue()
                chain.consume()
                chain.spoil()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(chain,)) for chain in chains]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed
    assert [chain.z.to_numpy()[0] for chain in chains] == [7.0] * 3


# code that names its stream ------------------------------------------------------------------------------------------


def test_with_use_stream_a_stream_that_no_library_knows_is_kept_in_order(chain: Chain) -> None:
    with own_stream() as stream:

        def on_mine(work: Callable[[], object]) -> None:
            with cuda_frame.use(stream):
                work()

        with eagle_cuda.use_stream(stream):
            on_mine(chain.produce)
            chain.graph.enqueue()
            on_mine(chain.consume)
            on_mine(chain.spoil)
    assert chain.z.to_numpy()[0] == 7.0
    assert chain.y.to_numpy()[0] == 6.0


def test_code_that_asks_for_the_current_stream_is_captured(device: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    double, seen = DEVICE.scale(x, 2.0, x), list[int]()

    def on_current() -> None:
        seen.append(int(eagle_cuda.current_stream()))
        with cuda_frame.use(seen[-1]):
            double()

    eagle.Graph().add_node(opaque(on_current, reads={"x": x}, writes={"x": x})).build().launch(2)
    assert x.to_numpy()[0] == 4.0
    assert len(seen) == 1
    assert int(eagle_cuda.current_stream()) == cuda_frame.LEGACY
    with own_stream() as stream, eagle_cuda.use_stream(stream):
        assert int(eagle_cuda.current_stream()) == stream


# several libraries ----------------------------------------------------------------------------------------------------


class Second(Streams):
    """A library whose current stream is another one."""

    def __init__(self) -> None:
        self.stream: int | None = None
        self.seen: list[int] = []

    def current(self, device: tuple[str, int], /) -> int | None:
        return self.stream

    @contextmanager
    def use(self, device: tuple[str, int], stream: int, /) -> Iterator[None]:
        before, self.stream = self.stream, stream
        self.seen.append(stream)
        try:
            yield
        finally:
            self.stream = before

    def launch(self, work: Callable[[], object]) -> None:
        """Do what this library's kernels would do: go to its own stream."""
        assert self.stream is not None
        with cuda_frame.use(self.stream):
            work()


@pytest.fixture
def second(device: Emulator) -> Iterator[Second]:
    streams = Second()

    @hookimpl
    def register_framework() -> Framework:
        return Framework(name="second", needs="numpy", streams=streams)

    module: Any = SimpleNamespace(__name__="second.hooks", EAGLE_CONTRACT=(1, 0), register_framework=register_framework)
    with registered(module):
        yield streams


def test_the_streams_of_every_loaded_library_are_kept_in_order(second: Second, chain: Chain) -> None:
    with ExitStack() as stack:
        first_stream, second.stream = (stack.enter_context(own_stream()) for _ in range(2))
        stack.enter_context(cuda_frame.use(first_stream))
        second.launch(chain.produce)
        chain.graph.enqueue()
        chain.consume()
        second.launch(chain.spoil)
    assert chain.z.to_numpy().tolist() == [7.0] * N
    assert chain.y.to_numpy().tolist() == [6.0] * N


def test_a_library_without_a_stream_on_the_device_is_none_to_wait_for(second: Second, chain: Chain) -> None:
    second.stream = None
    with own_stream() as stream, cuda_frame.use(stream):
        chain.produce()
        chain.graph.enqueue()
        chain.consume()
    assert chain.z.to_numpy()[0] == 7.0


def test_captured_code_may_use_every_loaded_library(second: Second) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.zeros(N))
    double, store = DEVICE.scale(x, 2.0, x), DEVICE.shift(x, 0.0, y)

    def both() -> None:
        double()
        second.launch(store)

    g = eagle.Graph().add_node(opaque(both, reads={"x": x}, writes={"x": x, "y": y})).build().launch(3)
    assert g.captures == 1
    assert len(set(second.seen)) == 1
    assert second.stream is None
    assert y.to_numpy()[0] == 8.0


def test_streams_that_fail_refuse_the_launch_and_leave_the_graph_usable(second: Second, chain: Chain) -> None:
    chain.produce()

    def broken(device: tuple[str, int], /) -> int:
        raise RuntimeError("the library is gone")

    second.current = broken  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="the library is gone"):
        chain.graph.launch()
    del second.current
    chain.graph.launch()
    assert chain.y.to_numpy()[0] == 6.0
