"""Threads that build and launch at once, collections and destruction, in the middle of a capture too."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable

import cuda_frame
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice
from cuda_emulator import Emulator
from cuda_own import leaves_nothing, own_stream, use_device

import eagle
import eagle_cuda
from eagle.graph import opaque

DEVICE = CudaDevice()
N = 8


def doubling(x: DeviceArray) -> eagle.Graph:
    return eagle.Graph().add_node(opaque(DEVICE.scale(x, 2.0, x), reads={"x": x}, writes={"x": x}), name="double")


def in_threads(*work: Callable[[], object]) -> None:
    """Run everything at once; raise what any of it raised."""
    failed: list[BaseException] = []
    ready = threading.Barrier(len(work), timeout=60)

    def run(one: Callable[[], object]) -> None:
        try:
            use_device()
            ready.wait()
            one()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if failed:
        raise failed[0]


def test_threads_build_and_launch_their_graphs_at_once(device: Emulator) -> None:
    arrays = [DeviceArray(np.ones(N)) for _ in range(6)]
    graphs = [doubling(x) for x in arrays]

    def work(number: int) -> Callable[[], object]:
        def run() -> None:
            with own_stream() as stream, cuda_frame.use(stream):
                graphs[number].build()
                for _ in range(3):
                    graphs[number].enqueue(2)
                graphs[number].synchronize()

        return run

    in_threads(*map(work, range(len(graphs))))
    assert [x.to_numpy()[0] for x in arrays] == [64.0] * len(arrays)


def test_launches_go_on_while_another_thread_captures(device: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.ones(N))
    running = doubling(x).build()
    captured = threading.Event()
    work = DEVICE.scale(y, 2.0, y)

    def slow() -> None:
        work()
        captured.set()

    slow_graph = eagle.Graph().add_node(opaque(slow, reads={"y": y}, writes={"y": y}))

    def launches() -> None:
        assert captured.wait(60)
        for _ in range(5):
            running.launch()

    in_threads(lambda: slow_graph.build().launch(), launches)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (32.0, 2.0)


def waiting_for(x: DeviceArray, other: Callable[[], object]) -> tuple[eagle.Graph, list[BaseException]]:
    """A graph whose captured code has another thread do something, and waits for that; what the thread raised."""
    raised: list[BaseException] = []
    double = DEVICE.scale(x, 2.0, x)

    def run() -> None:
        try:
            use_device()
            other()
        except BaseException as error:
            raised.append(error)

    def code() -> None:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
        double()

    return eagle.Graph().add_node(opaque(code, reads={"x": x}, writes={"x": x}), name="waits"), raised


def test_captured_code_may_wait_for_a_thread_that_builds_and_launches_on_its_own_stream(device: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.ones(N))

    def other() -> None:
        with own_stream() as stream, cuda_frame.use(stream):
            doubling(y).build().launch(2)

    g, raised = waiting_for(x, other)
    g.build().launch()
    assert raised == []
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2.0, 4.0)
    assert gc.isenabled()


def test_a_launch_that_would_wait_for_ever_for_a_capture_is_refused(
    unordered: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eagle_cuda.lifetime._Traffic.PATIENCE", 0.1)
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.ones(N))
    launched = doubling(y).build()
    g, raised = waiting_for(x, launched.launch)
    g.build().launch()
    (error,) = raised
    assert isinstance(error, eagle.GraphError)
    assert "another thread has been capturing" in str(error)
    launched.launch()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2.0, 2.0)


def test_one_graph_lets_one_thread_in(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    inside, done = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert done.wait(60)

    g = eagle.Graph().add_node(opaque(wait, reads={"x": x}, eager=True)).build()

    def second() -> None:
        assert inside.wait(60)
        try:
            with pytest.raises(eagle.Busy):
                g.launch()
        finally:
            done.set()

    in_threads(g.launch, second)
    g.launch()


def test_a_collection_during_a_capture_ends_nothing(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    double = DEVICE.scale(x, 2.0, x)
    with leaves_nothing(unordered):
        dead = [doubling(DeviceArray(np.ones(N))).build().launch() for _ in range(3)]
        for g in dead:
            g.cycle = g  # type: ignore[attr-defined]

        def collects() -> None:
            double()
            dead.clear()
            gc.collect()
            double()

        g = eagle.Graph().add_node(opaque(collects, reads={"x": x}, writes={"x": x})).build().launch()
        assert x.to_numpy()[0] == 4.0
        del g, collects


def test_a_graph_that_is_dropped_during_the_capture_of_another_is_destroyed_after_it(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    other = [doubling(DeviceArray(np.ones(N))).build()]
    other[0].enqueue()
    double = DEVICE.scale(x, 2.0, x)

    def drops() -> None:
        double()
        other.clear()
        double()

    with leaves_nothing(unordered):
        fresh = [doubling(DeviceArray(np.ones(N))).build().launch()]

        def drops_fresh() -> None:
            double()
            fresh.clear()

        eagle.Graph().add_node(opaque(drops_fresh, reads={"x": x}, writes={"x": x})).build().launch()
    g = eagle.Graph().add_node(opaque(drops, reads={"x": x}, writes={"x": x})).build().launch()
    assert x.to_numpy()[0] == 8.0


def test_a_graph_in_a_cycle_through_its_own_nodes_is_released_after_its_work(unordered: Emulator) -> None:
    out = DeviceArray(np.zeros(N))

    class Model:
        def __init__(self) -> None:
            self.x = DeviceArray(np.full(N, 3.0))
            self.work = DEVICE.scale(self.x, 2.0, out)
            node = opaque(self.step, reads={"x": self.x}, writes={"out": out})
            self.graph = eagle.Graph().add_node(node).build()

        def step(self) -> None:
            self.work()

    with leaves_nothing(unordered):
        Model().graph.enqueue()
    assert out.to_numpy()[0] == 6.0


def test_the_collector_is_on_again_after_a_capture_that_failed(unordered: Emulator) -> None:
    x = DeviceArray(np.ones(N))
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        eagle.Graph().add_node(opaque(lambda: 1 / 0, reads={"x": x})).build()
    assert gc.isenabled()
    gc.disable()
    try:
        doubling(x).build()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_launch_inside_captured_code_is_refused_by_name(unordered: Emulator) -> None:
    x, y = DeviceArray(np.ones(N)), DeviceArray(np.ones(N))
    inner = doubling(x).build()
    outer = eagle.Graph().add_node(opaque(inner.launch, reads={"x": x}, writes={"x": x}), name="outer")
    with leaves_nothing(unordered), pytest.raises(eagle.EagleError, match="captured") as caught:
        outer.build()
    assert "'outer'" in str(caught.value) + "".join(caught.value.__notes__)
    inner.launch()
    doubling(y).build().launch()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2.0, 2.0)


def test_a_launch_inside_captured_code_against_the_legacy_stream_is_refused_and_waits_for_nothing(
    unordered: Emulator,
) -> None:
    x = DeviceArray(np.ones(N))
    inner = doubling(x).build()

    def launches() -> None:
        with cuda_frame.use(cuda_frame.LEGACY), eagle_cuda.use_stream(cuda_frame.LEGACY):
            inner.launch()

    outer = eagle.Graph().add_node(opaque(launches, reads={"x": x}, writes={"x": x}), name="outer")
    with leaves_nothing(unordered), pytest.raises(eagle.GraphError, match="captured code launches"):
        outer.build()
    inner.launch()
    assert x.to_numpy()[0] == 2.0


def test_a_launch_while_the_callers_stream_is_captured_by_somebody_else_is_refused(unordered: Emulator) -> None:
    from cuda.core import Device

    x = DeviceArray(np.ones(N))
    g = doubling(x).build()
    builder = Device().create_graph_builder().begin_building()
    with (
        cuda_frame.use(int(builder.stream.handle)),
        pytest.raises(eagle.GraphError, match="stream is being captured"),
    ):
        g.launch()
    builder.end_building()
    g.launch()
    assert x.to_numpy()[0] == 2.0
