"""Executable graphs: the order of launches, changes, and what they hold alive."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from cuda.bindings import driver as cu
from cuda_calls import (
    SEEDS,
    Type,
    add_conditional,
    add_kernel,
    add_node,
    child_params,
    code,
    compile_source,
    done,
    ints,
    kernel_params,
    launch,
    new_condition,
    new_graph,
    value,
)
from cuda_emulator import Emulator


def executable_of(graph: Any) -> Any:
    return done(cu.cuGraphInstantiate(graph, 0))


def linear_copy(to: int, source: int) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEMCPY
    copy, kinds = params.memcpy.copyParams, cu.CUmemorytype
    copy.srcMemoryType = copy.dstMemoryType = kinds.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice, copy.WidthInBytes, copy.Height, copy.Depth = source, to, 4, 1, 1
    return params


def update(executable: Any, graph: Any) -> str:
    return code(cu.cuGraphExecUpdate(executable, graph))


@pytest.mark.parametrize("seed", SEEDS)
def test_launches_come_after_their_stream_and_after_each_other(
    stream: Any, other: Any, emulator: Emulator, seed: int
) -> None:
    emulator.seed(seed)
    x, graph = ints(1), new_graph()
    add_kernel(graph, "mul", x, 3)
    executable = executable_of(graph)
    done(launch(stream, "add", x, 1))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuGraphLaunch(executable, other))
    done(launch(other, "add", x, 1))
    done(cu.cuStreamSynchronize(other))
    assert value(x) == 19


def test_two_executables_run_in_either_order(stream: Any, other: Any, emulator: Emulator) -> None:
    seen = set()
    for seed in SEEDS:
        emulator.seed(seed)
        x, first, second = ints(1), new_graph(), new_graph()
        add_kernel(first, "add", x, 1)
        add_kernel(second, "mul", x, 10)
        done(cu.cuGraphLaunch(executable_of(first), stream))
        done(cu.cuGraphLaunch(executable_of(second), other))
        done(cu.cuCtxSynchronize())
        seen.add(value(x))
    assert seen == {11, 20}


def test_nodes_of_a_launch_and_other_streams_interleave(stream: Any, other: Any, emulator: Emulator) -> None:
    x, y, graph = ints(0), ints(0), new_graph()
    node = add_kernel(graph, "add", x, 1)
    for _ in range(5):
        node = add_kernel(graph, "add", x, 1, after=(node,))
    executable = executable_of(graph)
    between = 0
    for seed in SEEDS:
        emulator.reset()
        emulator.seed(seed)
        done(cu.cuGraphLaunch(executable, stream))
        for _ in range(3):
            done(launch(other, "mul", y, 1))
        done(cu.cuCtxSynchronize())
        order = [line.removeprefix("kernel ") for line in emulator.trace() if line.startswith("kernel")]
        between += "add mul" in " ".join(order) and "mul add" in " ".join(order[order.index("add") :])
    assert between


def test_an_executable_outlives_its_graph_and_a_launch_its_executable(stream: Any, emulator: Emulator) -> None:
    before = emulator.live()["execs"]
    x, graph = ints(1), new_graph()
    add_kernel(graph, "add", x, 1)
    executable = executable_of(graph)
    done(cu.cuGraphDestroy(graph))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuGraphExecDestroy(executable))
    assert emulator.live()["execs"] == before
    assert code(cu.cuGraphLaunch(executable, stream)) == "INVALID_VALUE"
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 2


def test_a_changed_node_leaves_launches_in_flight_and_its_graph_alone(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    node = add_kernel(graph, "add", x, 1)
    executable = executable_of(graph)
    done(cu.cuGraphLaunch(executable, stream))
    params, arguments = kernel_params("mul", x, 10)
    done(cu.cuGraphExecNodeSetParams(executable, node, params))
    del arguments
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuGraphLaunch(executable_of(graph), stream))
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 21


def test_a_node_of_another_graph_or_type_changes_nothing() -> None:
    x, graph, elsewhere = ints(1), new_graph(), new_graph()
    node, foreign = add_kernel(graph, "add", x, 1), add_kernel(elsewhere, "add", x, 1)
    executable = executable_of(graph)
    params, _ = kernel_params("mul", x, 10)
    assert code(cu.cuGraphExecNodeSetParams(executable, foreign, params)) == "INVALID_VALUE"
    assert code(cu.cuGraphExecNodeSetParams(executable, node, child_params(elsewhere))) == "INVALID_VALUE"


def test_a_copy_of_an_executable_keeps_its_kinds_of_memory() -> None:
    x, y, graph = ints(1), ints(0), new_graph()
    node = done(add_node(graph, linear_copy(y.address, x.address)))
    executable = executable_of(graph)
    params, host = linear_copy(y.address, x.address), ctypes.c_int(1)
    params.memcpy.copyParams.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
    params.memcpy.copyParams.srcHost = ctypes.addressof(host)
    assert code(cu.cuGraphExecNodeSetParams(executable, node, params)) == "INVALID_VALUE"


def test_nodes_can_be_switched_off_and_on(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    node = add_kernel(graph, "put", x, 2)
    after = add_kernel(graph, "mul", x, 10, after=(node,))
    executable = executable_of(graph)
    done(cu.cuGraphNodeSetEnabled(executable, node, 0))
    assert done(cu.cuGraphNodeGetEnabled(executable, node)) == 0
    assert done(cu.cuGraphNodeGetEnabled(executable, after)) == 1
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 10
    done(cu.cuGraphNodeSetEnabled(executable, node, 1))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 20


def test_only_kernels_copies_and_fills_can_be_switched() -> None:
    graph, child = new_graph(), new_graph()
    node = done(add_node(graph, child_params(child)))
    assert code(cu.cuGraphNodeSetEnabled(executable_of(graph), node, 0)) == "INVALID_VALUE"


def test_an_update_takes_new_parameters(stream: Any) -> None:
    x, graph, fresh = ints(1), new_graph(), new_graph()
    add_kernel(graph, "add", x, 1)
    add_kernel(fresh, "mul", x, 50)
    executable = executable_of(graph)
    assert update(executable, fresh) == "SUCCESS"
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 50


def test_an_update_refuses_another_shape_and_changes_nothing(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    first = add_kernel(graph, "add", x, 1)
    add_kernel(graph, "mul", x, 10, after=(first,))
    executable = executable_of(graph)
    fewer, apart, other_type = new_graph(), new_graph(), new_graph()
    add_kernel(fewer, "add", x, 100)
    for _ in range(2):
        add_kernel(apart, "add", x, 100)
    node = add_kernel(other_type, "add", x, 100)
    done(add_node(other_type, child_params(new_graph()), (node,)))
    for refused in (fewer, apart, other_type):
        assert update(executable, refused) == "GRAPH_EXEC_UPDATE_FAILURE"
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 20


def test_an_update_reaches_into_bodies(stream: Any) -> None:
    x = ints(1)

    def graph_adding(number: int) -> Any:
        graph = new_graph()
        _, (body,) = add_conditional(graph, new_condition(graph, 1), "IF")
        add_kernel(body, "add", x, number)
        return graph

    executable = executable_of(graph_adding(1))
    assert update(executable, graph_adding(40)) == "SUCCESS"
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    assert value(x) == 41


def test_a_user_object_goes_with_the_last_that_holds_it(stream: Any, emulator: Emulator) -> None:
    before = emulator.live()["user_objects"]
    released: list[int] = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: released.append(1))
    x, graph = ints(1), new_graph()
    add_kernel(graph, "add", x, 1)
    flag = cu.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
    function = cu.CUhostFn(ctypes.cast(destroy, ctypes.c_void_p).value)
    thing = done(cu.cuUserObjectCreate(ctypes.addressof(ctypes.c_int(1)), function, 1, flag))
    move = cu.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE
    done(cu.cuGraphRetainUserObject(graph, thing, 1, move))
    executable = executable_of(graph)
    done(cu.cuGraphDestroy(graph))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuGraphExecDestroy(executable))
    assert emulator.live()["user_objects"] == before + 1  # the launch in flight holds it
    done(cu.cuStreamSynchronize(stream))
    emulator.settle()
    assert emulator.live()["user_objects"] == before
    assert released == [1]


def test_a_user_object_has_a_destructor_that_nobody_waits_for() -> None:
    assert code(cu.cuUserObjectCreate(0, cu.CUhostFn(0), 1, 0)) == "INVALID_VALUE"


def test_a_reference_not_held_is_not_released() -> None:
    keep = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    flag = cu.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
    function = cu.CUhostFn(ctypes.cast(keep, ctypes.c_void_p).value)
    thing, graph = done(cu.cuUserObjectCreate(0, function, 1, flag)), new_graph()
    assert code(cu.cuGraphReleaseUserObject(graph, thing, 1)) == "INVALID_VALUE"
    done(cu.cuUserObjectRelease(thing, 1))
    assert code(cu.cuUserObjectRetain(thing, 1)) == "INVALID_VALUE"


def test_unknown_flags_are_refused() -> None:
    assert code(cu.cuGraphInstantiate(new_graph(), 1 << 40)) == "INVALID_VALUE"


@pytest.mark.emulator_only
def test_device_launch_is_not_emulated() -> None:
    flag = cu.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
    assert code(cu.cuGraphInstantiate(new_graph(), flag)) == "NOT_SUPPORTED"


def test_a_fill_of_several_rows_keeps_its_shape() -> None:
    x, graph = ints(*range(8)), new_graph()
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEMSET
    fill = params.memset
    fill.dst, fill.elementSize, fill.width, fill.height, fill.pitch = x.address, 4, 1, 2, 16
    node = done(add_node(graph, params))
    executable = executable_of(graph)
    fill.value = 7
    done(cu.cuGraphExecNodeSetParams(executable, node, params))
    fill.width = 2
    assert code(cu.cuGraphExecNodeSetParams(executable, node, params)) == "INVALID_VALUE"


def test_a_kernel_of_an_executable_keeps_its_context_in_an_update() -> None:
    x, graph, fresh = ints(1), new_graph(), new_graph()
    add_kernel(graph, "add", x, 1)
    image = compile_source('extern "C" __global__ void foreign(int* x, int v) { *x = v; }').code
    done(cu.cuCtxPushCurrent(done(cu.cuDevicePrimaryCtxRetain(1))))
    module = done(cu.cuModuleLoadData(image))
    done(cu.cuCtxPopCurrent())
    params, _arguments = kernel_params("add", x, 1)
    params.kernel.func = done(cu.cuModuleGetFunction(module, b"foreign"))
    done(add_node(fresh, params))
    assert update(executable_of(graph), fresh) == "GRAPH_EXEC_UPDATE_FAILURE"
    done(cu.cuModuleUnload(module))
