"""
cuda.core over the emulated device: every operation of its graphs.

It runs as whichever driver ``--driver`` says; `test_drivers.py` runs it as the older ones.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.core import (
    Device,
    EventOptions,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    launch,
)
from cuda.core.graph import GraphBuilder, GraphCompleteOptions, GraphDefinition
from cuda_arrays import DeviceArray
from cuda_calls import SOURCE, compile_source, ints, value
from cuda_emulator import Emulator

ONE = LaunchConfig(grid=1, block=1)
needs_else = pytest.mark.skipif("config.getoption('--driver') in ('12.2', '12.4')", reason="came with 12.8")
Kernels = Callable[[str], Kernel]


@pytest.fixture(scope="module")
def kernel() -> Kernels:
    get: Kernels = compile_source(SOURCE).get_kernel
    return get


@pytest.fixture
def device() -> Device:
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def queue(device: Device) -> Iterator[Any]:
    """Give a stream of cuda.core's."""
    stream = device.create_stream()
    yield stream
    stream.close()


@pytest.fixture
def builder(device: Device) -> GraphBuilder:
    return device.create_graph_builder().begin_building()


def run(graph: GraphDefinition, queue: Any) -> None:
    executable = graph.instantiate()
    executable.launch(queue)
    queue.sync()
    executable.close()


def at(array: DeviceArray) -> int:
    return array.address


class TestDefinition:
    def test_nodes_follow_each_other(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        graph.launch(ONE, kernel("add"), at(x), np.int32(2)).launch(ONE, kernel("mul"), at(x), np.int32(5))
        run(graph, queue)
        assert value(x) == 15
        assert (len(graph.nodes()), len(graph.edges())) == (2, 1)

    def test_edges_are_edited(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        add = graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        mul = graph.launch(ONE, kernel("mul"), at(x), np.int32(5))
        mul.pred = [add]
        assert add in mul.pred
        assert mul in add.succ
        run(graph, queue)
        assert value(x) == 15
        mul.pred.clear()
        add.pred.add(mul)
        run(graph, queue)
        assert value(x) == 77

    def test_nodes_are_joined_and_destroyed(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        add, other = (
            graph.launch(ONE, kernel("add"), at(x), np.int32(2)),
            graph.launch(ONE, kernel("add"), at(x), np.int32(100)),
        )
        join = add.join(other)
        other.destroy()
        run(graph, queue)
        assert (value(x), join.is_valid, other.is_valid) == (3, True, False)

    def test_copies_and_fills(self, queue: Any) -> None:
        x, y, graph = ints(0), ints(0), GraphDefinition()
        fill = graph.memset(at(x), 3, 4)
        copy = fill.memcpy(at(y), at(x), 4)
        run(graph, queue)
        assert value(y) == 0x03030303
        assert (copy.size, copy.src, copy.dst, fill.dptr, fill.value) == (4, at(x), at(y), at(x), 3)

    def test_parameters_are_changed(self, kernel: Kernels, queue: Any) -> None:
        x, y, z, graph = ints(1), ints(5), ints(8), GraphDefinition()
        add = graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        add.update(args=(at(x), np.int32(10)))
        copy = graph.memcpy(at(y), at(x), 4)
        copy.update(src=at(z))
        run(graph, queue)
        assert (value(x), value(y)) == (11, 8)

    def test_a_child_is_embedded(self, kernel: Kernels, queue: Any) -> None:
        x, graph, child = ints(1), GraphDefinition(), GraphDefinition()
        child.launch(ONE, kernel("add"), at(x), np.int32(3))
        node = graph.embed(child)
        node.launch(ONE, kernel("mul"), at(x), np.int32(2))
        run(graph, queue)
        assert value(x) == 8
        assert len(node.child_graph.nodes()) == 1

    def test_memory_nodes(self, queue: Any) -> None:
        graph = GraphDefinition()
        memory = graph.allocate(4)
        free = memory.memset(memory.dptr, 1, 4).deallocate(memory.dptr)
        run(graph, queue)
        assert (memory.bytesize, free.dptr) == (4, memory.dptr)

    def test_event_nodes(self, device: Device, queue: Any) -> None:
        event = device.create_event(EventOptions(timing_enabled=True))
        graph = GraphDefinition()
        wait = graph.record(event).wait(event)
        run(graph, queue)
        assert event.is_done
        assert int(wait.event.handle) == int(event.handle)

    def test_host_nodes(self, queue: Any) -> None:
        calls: list[int] = []
        graph = GraphDefinition()
        node = graph.callback(lambda: calls.append(1))
        executable = graph.instantiate()
        executable[node].update(lambda: calls.append(2))
        executable.launch(queue)
        queue.sync()
        node.update(lambda: calls.append(3))
        run(graph, queue)
        assert calls == [2, 3]

    def test_if(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        node = graph.if_then(graph.create_condition(default_value=1))
        node.then.launch(ONE, kernel("add"), at(x), np.int32(1))
        run(graph, queue)
        assert value(x) == 2

    @needs_else
    @pytest.mark.parametrize(("given", "expected"), [(0, 11), (1, 2)])
    def test_if_else(self, kernel: Kernels, queue: Any, given: int, expected: int) -> None:
        x, graph = ints(1), GraphDefinition()
        node = graph.if_else(graph.create_condition(default_value=given))
        node.then.launch(ONE, kernel("add"), at(x), np.int32(1))
        node.else_.launch(ONE, kernel("add"), at(x), np.int32(10))
        run(graph, queue)
        assert value(x) == expected

    @needs_else
    def test_switch(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        node = graph.switch(graph.create_condition(default_value=1), 3)
        for i, branch in enumerate(node.branches):
            branch.launch(ONE, kernel("put"), at(x), np.int32(10 + i))
        run(graph, queue)
        assert value(x) == 11

    def test_loops_nest(self, kernel: Kernels, queue: Any) -> None:
        i, j, n, graph = ints(0), ints(0), ints(0), GraphDefinition()
        outer = graph.create_condition(default_value=1)
        body = graph.while_loop(outer).body
        inner = body.create_condition()
        start = body.launch(ONE, kernel("put"), at(j), np.int32(0)).launch(
            ONE, kernel("below"), inner, at(j), np.int32(4)
        )
        loop = start.while_loop(inner)
        loop.body.launch(ONE, kernel("add"), at(n), np.int32(1))
        loop.body.launch(ONE, kernel("add"), at(j), np.int32(1)).launch(ONE, kernel("below"), inner, at(j), np.int32(4))
        loop.launch(ONE, kernel("add"), at(i), np.int32(1)).launch(ONE, kernel("below"), outer, at(i), np.int32(3))
        run(graph, queue)
        assert (value(n), value(i)) == (12, 3)

    def test_a_dot_file(self, tmp_path: Path) -> None:
        graph = GraphDefinition()
        graph.empty()
        graph.debug_dot_print(str(tmp_path / "graph.dot"))
        assert (tmp_path / "graph.dot").read_text().startswith("digraph")


class TestExecutable:
    def test_node_parameters_are_changed(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        node = graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        executable = graph.instantiate()
        executable[node].update(config=ONE, kernel=kernel("mul"), args=(at(x), np.int32(7)))
        executable.launch(queue)
        queue.sync()
        assert value(x) == 7

    def test_copies_are_changed(self, queue: Any) -> None:
        x, y, z, graph = ints(5), ints(0), ints(8), GraphDefinition()
        node = graph.memcpy(at(y), at(x), 4)
        executable = graph.instantiate()
        executable[node].update(dst=at(y), src=at(z), size=4)
        executable.launch(queue)
        queue.sync()
        assert value(y) == 8

    def test_nodes_are_switched(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        node = graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        executable = graph.instantiate()
        executable[node].disable()
        executable.launch(queue)
        queue.sync()
        assert (value(x), executable[node].is_enabled) == (1, False)
        executable[node].enable()
        executable.launch(queue)
        queue.sync()
        assert value(x) == 3

    def test_the_whole_is_updated(self, kernel: Kernels, queue: Any) -> None:
        x, graph, fresh = ints(1), GraphDefinition(), GraphDefinition()
        graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        fresh.launch(ONE, kernel("add"), at(x), np.int32(50))
        executable = graph.instantiate()
        executable.update(fresh)
        executable.launch(queue)
        queue.sync()
        assert value(x) == 51

    def test_an_update_of_another_shape_says_so(self, kernel: Kernels) -> None:
        x, graph, fresh = ints(1), GraphDefinition(), GraphDefinition()
        graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        fresh.launch(ONE, kernel("add"), at(x), np.int32(5)).launch(ONE, kernel("add"), at(x), np.int32(1))
        executable = graph.instantiate()
        with pytest.raises(Exception, match="topology changed"):
            executable.update(fresh)

    def test_upload_and_options(self, kernel: Kernels, queue: Any) -> None:
        x, graph = ints(1), GraphDefinition()
        graph.launch(ONE, kernel("add"), at(x), np.int32(2))
        executable = graph.instantiate(GraphCompleteOptions(upload_stream=queue, auto_free_on_launch=True))
        executable.upload(queue)
        executable.launch(queue)
        queue.sync()
        assert value(x) == 3


class TestBuilder:
    def test_a_capture_is_completed(self, kernel: Kernels, builder: GraphBuilder, queue: Any) -> None:
        x = ints(1)
        launch(builder, ONE, kernel("add"), at(x), np.int32(1))
        executable = builder.end_building().complete()
        executable.launch(queue)
        queue.sync()
        assert value(x) == 2

    @pytest.mark.parametrize("seed", range(5))
    def test_branches_are_split_and_joined(
        self, kernel: Kernels, builder: GraphBuilder, queue: Any, emulator: Emulator, seed: int
    ) -> None:
        emulator.seed(seed)
        x, y = ints(1), ints(1)
        launch(builder, ONE, kernel("add"), at(x), np.int32(1))
        left, right = builder.split(2)
        launch(left, ONE, kernel("mul"), at(x), np.int32(3))
        launch(right, ONE, kernel("mul"), at(y), np.int32(4))
        builder = GraphBuilder.join(left, right)
        launch(builder, ONE, kernel("move"), at(y), at(x))
        executable = builder.end_building().complete()
        executable.launch(queue)
        queue.sync()
        assert (value(x), value(y)) == (6, 6)

    def test_a_capture_is_embedded(self, kernel: Kernels, builder: GraphBuilder, device: Device, queue: Any) -> None:
        x, child = ints(1), device.create_graph_builder().begin_building()
        launch(child, ONE, kernel("add"), at(x), np.int32(3))
        child.end_building()
        builder.embed(child)
        launch(builder, ONE, kernel("mul"), at(x), np.int32(2))
        executable = builder.end_building().complete()
        executable.launch(queue)
        queue.sync()
        assert value(x) == 8

    def test_conditionals(self, kernel: Kernels, builder: GraphBuilder, queue: Any) -> None:
        i = ints(0)
        condition = builder.create_condition(default_value=1)
        body = builder.while_loop(condition).begin_building()
        launch(body, ONE, kernel("add"), at(i), np.int32(1))
        launch(body, ONE, kernel("below"), condition, at(i), np.int32(6))
        body.end_building()
        launch(builder, ONE, kernel("mul"), at(i), np.int32(10))
        executable = builder.end_building().complete()
        executable.launch(queue)
        queue.sync()
        assert value(i) == 60

    def test_its_graph_goes_on_as_a_definition(self, kernel: Kernels, builder: GraphBuilder, queue: Any) -> None:
        x = ints(1)
        launch(builder, ONE, kernel("add"), at(x), np.int32(1))
        builder.end_building()
        tail = next(iter(builder.graph_definition.nodes()))
        tail.launch(ONE, kernel("mul"), at(x), np.int32(6))
        executable = builder.complete()
        executable.launch(queue)
        queue.sync()
        assert value(x) == 12

    def test_memory_of_the_graph(self, builder: GraphBuilder, device: Device, queue: Any) -> None:
        buffer = GraphMemoryResource(device).allocate(4, stream=builder)
        buffer.fill(1, stream=builder)
        buffer.close(builder)
        executable = builder.end_building().complete()
        executable.launch(queue)
        queue.sync()


class TestTheRest:
    def test_streams_and_events(self, kernel: Kernels, device: Device) -> None:
        first, second, x = device.create_stream(), device.create_stream(), ints(1)
        launch(first, ONE, kernel("add"), at(x), np.int32(1))
        second.wait(first.record())
        launch(second, ONE, kernel("mul"), at(x), np.int32(8))
        second.sync()
        assert value(x) == 16

    def test_the_default_stream(self, kernel: Kernels, device: Device) -> None:
        x = ints(1)
        launch(device.default_stream, ONE, kernel("add"), at(x), np.int32(1))
        device.default_stream.sync()
        assert value(x) == 2

    def test_buffers(self, device: Device, queue: Any) -> None:
        buffer = device.allocate(8, stream=queue)
        pinned = LegacyPinnedMemoryResource().allocate(8, stream=queue)
        buffer.fill(3, stream=queue)
        pinned.copy_from(buffer, stream=queue)
        queue.sync()
        assert np.from_dlpack(pinned).tolist() == [3] * 8

    @pytest.mark.emulator_only
    def test_the_device_says_what_it_is(self, device: Device) -> None:
        assert "emulated" in device.name
        assert device.compute_capability == (9, 0)

    def test_nothing_is_left(self, kernel: Kernels, device: Device, emulator: Emulator) -> None:
        gc.collect()
        before = emulator.live()
        x, graph, child, queue = ints(0), GraphDefinition(), GraphDefinition(), device.create_stream()
        child.launch(ONE, kernel("add"), at(x), np.int32(1))
        condition = graph.create_condition(default_value=1)
        loop = graph.embed(child).while_loop(condition)
        loop.body.launch(ONE, kernel("add"), at(x), np.int32(1)).launch(
            ONE, kernel("below"), condition, at(x), np.int32(3)
        )
        run(graph, queue)
        assert value(x) == 3
        queue.close()
        del x, graph, child, loop, condition, queue
        gc.collect()
        emulator.settle()
        assert emulator.live() == before
