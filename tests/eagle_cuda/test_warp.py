"""Warp on a device: its stream in order, its kernels captured, its graphs as children. Warp itself on a real one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda_own import own_stream
from kernels import move

import eagle
from eagle.graph import child, opaque
from eagle.plugin import stream_handle, streams

N = 8


class Kernels:
    """The kernels ``scale`` and ``shift``, and how to launch them and make arrays."""

    def __init__(self, warp: Any) -> None:
        self.warp = warp
        if hasattr(warp, "config"):
            import warp_kernels as found
        else:
            import warp_stand_in

            found = warp_stand_in.kernels()  # type: ignore[assignment]
        self.scale, self.shift = found.scale, found.shift

    def array(self, *values: float) -> Any:
        return self.warp.array(np.array(values or [1.0] * N), dtype=self.warp.float64, device="cuda:0")

    def run(self, kernel: Any, a: Any, by: float, out: Any) -> None:
        self.warp.launch(kernel, N, inputs=[a, by], outputs=[out], device="cuda:0")

    def captured(self, x: Any) -> Any:
        """A graph of ``x = 2 * x + 1``."""
        steps: list[Callable[[], None]] = [
            lambda: self.run(self.scale, x, 2.0, x),
            lambda: self.run(self.shift, x, 1.0, x),
        ]
        for step in steps:
            step()  # loads the code, which no capture can
        if hasattr(self.warp, "ScopedCapture"):
            with self.warp.ScopedCapture(device="cuda:0") as capture:
                for step in steps:
                    step()
            return capture.graph
        import warp_stand_in

        with warp_stand_in.capture(self.warp.get_device("cuda:0")) as graph:
            for step in steps:
                step()
        return graph


@pytest.fixture
def k(warp: Any) -> Kernels:
    return Kernels(warp)


# streams --------------------------------------------------------------------------------------------------------------


def test_only_warps_streams_are_its_own(k: Kernels) -> None:
    mine = k.warp.Stream("cuda:0")
    known = streams()["warp"]
    assert known.handle(mine) == stream_handle(mine) == mine.cuda_stream
    assert known.handle(object()) is None


def test_the_current_stream_is_the_innermost_and_put_back(k: Kernels) -> None:
    known, device = streams()["warp"], ("cuda", 0)
    first = k.warp.get_device("cuda:0").stream.cuda_stream
    assert known.current(device) == first
    assert known.current(("cpu", 0)) is None
    assert known.current(("cuda", 99)) is None
    mine = k.warp.Stream("cuda:0")
    with k.warp.ScopedStream(mine), own_stream() as other:
        with known.use(device, other):
            assert known.current(device) == other
        assert known.current(device) == mine.cuda_stream
    assert known.current(device) == first


def test_a_library_that_was_not_used_yet_has_nothing_to_wait_for(k: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["warp._src.context"], "runtime", None)
    assert streams()["warp"].current(("cuda", 0)) is None


def test_another_thread_sees_the_stream_from_before_while_one_captures(k: Kernels) -> None:
    known, device, seen = streams()["warp"], ("cuda", 0), []
    before = known.current(device)
    with own_stream() as other, known.use(device, other):
        thread = threading.Thread(target=lambda: seen.append(known.current(device)))
        thread.start()
        thread.join()
    assert seen == [before]


def test_a_stream_of_warps_that_is_made_current_stays_known_to_it(k: Kernels) -> None:
    if not hasattr(k.warp.Stream, "known"):
        pytest.skip("Warp itself keeps that to itself")
    mine = k.warp.Stream("cuda:0")
    known = streams()["warp"]
    assert known.handle(mine) == mine.cuda_stream
    with known.use(("cuda", 0), mine.cuda_stream):
        pass
    assert mine.cuda_stream in k.warp.Stream.known


def test_a_launch_is_between_what_is_queued_before_and_after_it(seed: int, k: Kernels) -> None:
    x, y = k.array(), k.array()
    step = opaque(lambda: k.run(k.scale, x, 10.0, y), reads={"x": x}, writes={"y": y})
    k.run(k.scale, x, 1.0, y)
    g = eagle.Graph().add_node(step).build()
    k.run(k.shift, x, 2.0, x)
    g.enqueue(1)
    k.run(k.shift, y, 5.0, y)
    g.synchronize()
    assert y.numpy().tolist() == [35.0] * N


def test_a_step_on_a_stream_of_warps_is_between_its_neighbours(seed: int, k: Kernels) -> None:
    x, y, mine = k.array(), k.array(), k.warp.Stream("cuda:0")
    k.run(k.scale, x, 1.0, x)
    k.run(k.shift, x, 0.0, x)
    g = eagle.Graph()
    g.add_node(opaque(lambda: k.run(k.scale, x, 2.0, x), reads={"x": x}, writes={"x": x}))
    g.add_node(opaque(lambda: k.run(k.shift, x, 1.0, x), reads={"x": x}, writes={"x": x}, stream=mine))
    g.add_node(opaque(lambda: k.run(k.scale, x, 1.0, y), reads={"x": x}, writes={"y": y}))
    g.build().launch(2)
    assert g.schedule == ("capture", "eager_stream", "capture")
    assert y.numpy().tolist() == [7.0] * N


# kernels --------------------------------------------------------------------------------------------------------------


def test_kernels_are_captured_and_in_order(seed: int, k: Kernels) -> None:
    from eagle.frameworks.warp import launch

    x, y, z = k.array(), k.array(), k.array()
    g = eagle.Graph()
    g.add_node(launch(k.scale, N, [x, 3.0], [y]), name="scale")
    g.add_node(launch(k.shift, N, [y, 1.0], [z]), name="shift")
    g.add_node(launch(k.scale, N, [z, 2.0], [x]), name="back")
    g.build().launch(2)
    assert (g.backend, g.schedule, g.captures) == ("gpu", ("capture",) * 3, 1)
    assert x.numpy().tolist() == [50.0] * N


def test_a_kernel_in_a_loop_and_in_branches(seed: int, k: Kernels, cuda: Any) -> None:
    from eagle.frameworks.warp import launch

    x, y, z = k.array(), k.array(), k.array()
    flag = cuda.array([1], np.int32)
    g = eagle.Graph()
    g.add_node(eagle.repeat_while(launch(k.shift, N, [x, 1.0], [x]), eagle.SkipGuard.nonzero(flag), 3))
    g.add_group([launch(k.scale, N, [x, 2.0], [y]), launch(k.scale, N, [x, 3.0], [z])])
    g.build().launch()
    assert (y.numpy()[0], z.numpy()[0]) == (8.0, 12.0)


def test_planes_of_another_library_are_launched_over_in_place(seed: int, k: Kernels, cuda: Any) -> None:
    from eagle.frameworks.warp import launch

    x, y = cuda.array(np.arange(2.0 * N))[::2], k.array()
    eagle.Graph().add_node(launch(k.scale, N, [x, 2.0], [y])).build().launch()
    assert y.numpy().tolist() == [4.0 * i for i in range(N)]


def test_a_kernel_and_a_plan_in_the_step_of_a_loop(seed: int, k: Kernels, cuda: Any) -> None:
    from eagle.frameworks.warp import launch

    x, force, done = k.array(1.5, 8.0, 0.5), k.array(0.0, 0.0, 0.0), cuda.array([False] * 3, bool)
    push = launch(k.scale, 3, [x, -0.5], [force])
    report = eagle.until_done([push, eagle.deploy(move, steps=1)], x=x, force=force, terminated=done).run()
    assert (report.status, report.steps, report.finished) == ("finished", 4, 3)
    assert x.numpy().tolist() == [0.75, 0.5, 0.25]


def test_arrays_on_two_devices_are_refused_by_name(unordered: Any, k: Kernels) -> None:
    from eagle.frameworks.warp import launch

    if getattr(unordered, "real", False):
        pytest.skip("needs a second device")
    x, y = k.array(), k.warp.array(np.ones(N), dtype=k.warp.float64, device="cuda:1")
    with pytest.raises(eagle.PlaneError, match="node 'scale', plane 'out': the array is on device 1"):
        eagle.Graph().add_node(launch(k.scale, N, [x, 2.0], [y])).build()


def test_arrays_in_host_and_device_memory_are_refused(unordered: Any, k: Kernels) -> None:
    from eagle.frameworks.warp import launch

    with pytest.raises(eagle.GraphError, match="mixes memory of several devices"):
        eagle.Graph().add_node(launch(k.scale, N, [np.ones(N), 2.0], [k.array()])).build()


# graphs ---------------------------------------------------------------------------------------------------------------


def test_a_graph_of_warps_runs_in_its_place(seed: int, k: Kernels, cuda: Any) -> None:
    x, y = k.array(), k.array()
    graph = k.captured(x)
    k.run(k.scale, x, 0.0, x)
    g = eagle.Graph()
    g.add_node(opaque(cuda.operation("shift", over(x), np.float64(5.0), over(x)), writes={"x": x}), name="before")
    g.add_node(child(graph, reads={"x": x}, writes={"x": x}), name="model")
    g.add_node(opaque(cuda.operation("scale", over(x), np.float64(2.0), over(y)), reads={"x": x}, writes={"y": y}))
    g.build().launch()
    assert y.numpy().tolist() == [22.0] * N
    assert g.schedule == ("capture",) * 3


def over(x: Any) -> Any:
    """A Warp array as the tests' own kind."""
    from cuda_arrays import DeviceArray

    view = DeviceArray.__new__(DeviceArray)
    view._memory, view._address, view.shape, view.strides = x, x.ptr, x.shape, x.strides
    view.dtype, view.stream, view.read_only = np.dtype(np.float64), None, False
    return view


def test_a_graph_that_was_captured_again_is_refused_at_launch(unordered: Any, k: Kernels) -> None:
    x = k.array()
    graph, other = k.captured(x), k.captured(x)
    g = eagle.Graph().add_node(child(graph, writes={"x": x}), name="model").build().launch()
    graph.graph, other.graph = other.graph, graph.graph
    with pytest.raises(eagle.BuildError, match="node 'model': the child graph was reset or captured again"):
        g.launch()


def test_a_graph_without_one_of_the_driver_is_refused(unordered: Any, k: Kernels) -> None:
    x = k.array()
    empty = k.warp.Graph(k.warp.get_device("cuda:0"))
    with pytest.raises(eagle.BuildError, match="node 'model': the Warp graph has no graph of the driver"):
        eagle.Graph().add_node(child(empty, writes={"x": x}), name="model").build()
