"""What is refused where a handle, a kind, a size or a state is wrong: each rule that no other file here breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cuda.bindings import driver as cu
from cuda_calls import (
    RELAXED,
    THREAD_LOCAL,
    Type,
    add_conditional,
    add_kernel,
    add_node,
    child_params,
    code,
    conditional_params,
    done,
    function,
    ints,
    launch,
    new_condition,
    new_event,
    new_graph,
    new_stream,
)
from cuda_emulator import Emulator


def executable_of(graph: Any) -> Any:
    return done(cu.cuGraphInstantiate(graph, 0))


def copy_params(to: int, source: int, *, height: int = 1, kind: str = "DEVICE") -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEMCPY
    copy, kinds = params.memcpy.copyParams, cu.CUmemorytype
    copy.srcMemoryType, copy.dstMemoryType = getattr(kinds, f"CU_MEMORYTYPE_{kind}"), kinds.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.srcHost, copy.dstDevice = source, source, to
    copy.srcPitch = copy.dstPitch = 4 if height > 1 else 0
    copy.WidthInBytes, copy.Height, copy.Depth = 4, height, 1
    return params


def fill_params(to: int, *, height: int = 1, size: int = 4) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEMSET
    fill = params.memset
    fill.dst, fill.elementSize, fill.width, fill.height, fill.pitch = to, size, 1, height, 8
    return params


# streams, events, contexts --------------------------------------------------------------------------------------------


def test_unknown_flags_of_a_stream_are_refused() -> None:
    assert code(cu.cuStreamCreate(2)) == "INVALID_VALUE"


def test_a_default_stream_is_not_destroyed() -> None:
    assert code(cu.cuStreamDestroy(cu.CU_STREAM_LEGACY)) == "INVALID_HANDLE"


@pytest.mark.parametrize("call", [cu.cuEventDestroy, cu.cuEventQuery, cu.cuEventSynchronize])
def test_a_destroyed_event_is_refused(call: Callable[[Any], Any]) -> None:
    event = new_event()
    done(cu.cuEventDestroy(event))
    assert code(call(event)) == "INVALID_HANDLE"


@pytest.mark.parametrize("call", [cu.cuCtxSetCurrent, cu.cuCtxPushCurrent])
def test_what_is_no_context_is_not_made_current(call: Callable[[Any], Any]) -> None:
    assert code(call(cu.CUcontext(0xDEAD))) == "INVALID_CONTEXT"


def test_without_a_current_context_there_is_none_to_pop_and_no_device() -> None:
    context = done(cu.cuCtxPopCurrent())
    assert code(cu.cuCtxPopCurrent()) == "INVALID_CONTEXT"
    assert code(cu.cuCtxGetDevice()) == "INVALID_CONTEXT"
    done(cu.cuCtxPushCurrent(context))


@pytest.mark.emulator_only  # a real context would be reset with all that other tests have in it
def test_a_context_is_released_as_often_as_it_was_retained() -> None:
    done(cu.cuDevicePrimaryCtxRetain(1))
    answers = [code(cu.cuDevicePrimaryCtxRelease(1)) for _ in range(50)]
    assert answers[0] == "SUCCESS"
    assert answers[-1] == "INVALID_CONTEXT"
    done(cu.cuDevicePrimaryCtxRetain(1))


# capture --------------------------------------------------------------------------------------------------------------


def test_the_capture_of_the_legacy_stream_is_not_asked_for_while_a_blocking_stream_captures() -> None:
    blocking = new_stream(blocking=True)
    done(cu.cuStreamBeginCapture(blocking, RELAXED))
    assert code(cu.cuStreamGetCaptureInfo(cu.CU_STREAM_LEGACY)) == "STREAM_CAPTURE_IMPLICIT"
    done(cu.cuGraphDestroy(done(cu.cuStreamEndCapture(blocking))))  # asking has not ended it
    done(cu.cuStreamDestroy(blocking))


def test_the_legacy_stream_does_not_join_a_capture(stream: Any) -> None:
    event = new_event()
    done(cu.cuStreamBeginCapture(stream, RELAXED))
    done(cu.cuEventRecord(event, stream))
    assert code(cu.cuStreamWaitEvent(cu.CU_STREAM_LEGACY, event, 0)) == "STREAM_CAPTURE_IMPLICIT"
    assert code(cu.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"


def test_the_streams_of_an_invalidated_capture_record_nothing(stream: Any, other: Any) -> None:
    event, late = new_event(), new_event()
    done(cu.cuStreamBeginCapture(stream, THREAD_LOCAL))
    done(cu.cuEventRecord(event, stream))
    assert code(cu.cuMemAlloc(4)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert code(cu.cuEventRecord(late, stream)) == "STREAM_CAPTURE_INVALIDATED"
    assert code(cu.cuStreamWaitEvent(other, event, 0)) == "STREAM_CAPTURE_INVALIDATED"
    flags = cu.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
    assert code(cu.cuStreamUpdateCaptureDependencies(stream, None, None, 0, flags)) == "STREAM_CAPTURE_INVALIDATED"
    assert code(cu.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"


@pytest.mark.emulator_only
def test_an_event_never_recorded_is_work_outside_a_capture(stream: Any) -> None:
    done(cu.cuStreamBeginCapture(stream, RELAXED))
    assert code(cu.cuStreamWaitEvent(stream, new_event(), 0)) == "STREAM_CAPTURE_ISOLATION"
    assert code(cu.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"


def test_a_graph_is_not_uploaded_on_a_stream_that_captures(stream: Any) -> None:
    executable = executable_of(new_graph())
    done(cu.cuStreamBeginCapture(stream, RELAXED))
    assert code(cu.cuGraphUpload(executable, stream)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert code(cu.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"


def test_a_graph_that_is_captured_into_is_not_cloned_and_loses_no_node(stream: Any) -> None:
    graph = new_graph()
    node = add_kernel(graph, "add", ints(1), 1)
    done(cu.cuStreamBeginCaptureToGraph(stream, graph, None, None, 0, RELAXED))
    assert code(cu.cuGraphClone(graph)) == "INVALID_VALUE"
    assert code(cu.cuGraphDestroyNode(node)) == "INVALID_VALUE"
    done(cu.cuStreamEndCapture(stream))


# memory and kernels ---------------------------------------------------------------------------------------------------


def test_memory_is_freed_by_the_function_of_its_kind() -> None:
    x, pinned = ints(1), done(cu.cuMemHostAlloc(4, 0))
    assert code(cu.cuMemFreeHost(x.address)) == "INVALID_VALUE"
    assert code(cu.cuMemFree(int(pinned))) == "INVALID_VALUE"
    done(cu.cuMemFreeHost(pinned))


def test_what_is_no_memory_of_the_device_is_not_described_nor_freed(stream: Any) -> None:
    assert code(cu.cuMemHostGetDevicePointer(4096, 0)) == "INVALID_VALUE"
    assert code(cu.cuMemGetAddressRange(4096)) == "NOT_FOUND"
    assert code(cu.cuMemFreeAsync(4096, stream)) == "INVALID_VALUE"


def test_a_block_has_its_depth() -> None:
    assert code(cu.cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 65, 0, 0, 0, 0)) == "INVALID_VALUE"


def test_parameters_a_kernel_has_not_are_not_described() -> None:
    assert code(cu.cuFuncGetParamInfo(function("add"), 2)) == "INVALID_VALUE"


# nodes ----------------------------------------------------------------------------------------------------------------


def test_parameters_are_those_of_the_nodes_type() -> None:
    x, graph = ints(1), new_graph()
    node = add_kernel(graph, "add", x, 1)
    assert code(cu.cuGraphMemcpyNodeGetParams(node)) == "INVALID_VALUE"
    assert code(cu.cuGraphNodeSetParams(node, fill_params(x.address))) == "INVALID_VALUE"


def test_a_conditional_keeps_its_parameters() -> None:
    graph = new_graph()
    handle = new_condition(graph, 1)
    node, _ = add_conditional(graph, handle, "IF")
    params = conditional_params(handle, "IF")
    assert code(cu.cuGraphNodeSetParams(node, params)) == "NOT_SUPPORTED"
    assert code(cu.cuGraphExecNodeSetParams(executable_of(graph), node, params)) == "NOT_SUPPORTED"


def test_an_allocation_keeps_its_parameters() -> None:
    params, graph = cu.CUgraphNodeParams(), new_graph()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC
    params.alloc.bytesize = 4
    params.alloc.poolProps.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    node = done(add_node(graph, params))
    free = cu.CUgraphNodeParams()
    free.type = Type.CU_GRAPH_NODE_TYPE_MEM_FREE
    free.free.dptr = params.alloc.dptr
    last = done(add_node(graph, free, (node,)))
    executable = executable_of(graph)
    for one, of in ((node, params), (last, free)):
        assert code(cu.cuGraphNodeSetParams(one, of)) == "NOT_SUPPORTED"
        assert code(cu.cuGraphExecNodeSetParams(executable, one, of)) == "NOT_SUPPORTED"
    done(cu.cuGraphExecDestroy(executable))


def test_a_node_does_not_wait_for_itself() -> None:
    graph = new_graph()
    node = add_kernel(graph, "add", ints(1), 1)
    assert code(cu.cuGraphAddDependencies(graph, [node], [node], None, 1)) == "INVALID_VALUE"


def test_an_allocation_node_has_a_size_and_is_of_a_device() -> None:
    params, kinds = cu.CUgraphNodeParams(), cu.CUmemLocationType
    params.type = Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC
    params.alloc.poolProps.location.type = kinds.CU_MEM_LOCATION_TYPE_DEVICE
    assert code(add_node(new_graph(), params)) == "INVALID_VALUE"
    params.alloc.bytesize = 4
    params.alloc.poolProps.location.type = kinds.CU_MEM_LOCATION_TYPE_HOST
    assert code(add_node(new_graph(), params)) == "NOT_SUPPORTED"


def test_a_fill_is_aligned() -> None:
    assert code(add_node(new_graph(), fill_params(ints(1, 2).address + 2))) == "INVALID_VALUE"


@pytest.mark.emulator_only
def test_nodes_and_copies_that_are_not_emulated_are_refused() -> None:
    params, x = cu.CUgraphNodeParams(), ints(1)
    params.type = Type.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
    assert code(add_node(new_graph(), params)) == "NOT_SUPPORTED"
    assert code(add_node(new_graph(), copy_params(x.address, x.address, kind="ARRAY"))) == "NOT_SUPPORTED"


# executables ----------------------------------------------------------------------------------------------------------


def test_a_child_of_an_executable_keeps_its_shape() -> None:
    x, graph, child, longer = ints(1), new_graph(), new_graph(), new_graph()
    add_kernel(child, "add", x, 1)
    for _ in range(2):
        add_kernel(longer, "add", x, 1)
    node = done(add_node(graph, child_params(child)))
    assert code(cu.cuGraphExecChildGraphNodeSetParams(executable_of(graph), node, longer)) == "INVALID_VALUE"


def test_a_copy_of_several_rows_keeps_its_parameters_in_an_executable() -> None:
    x, y, graph = ints(1, 2), ints(0, 0), new_graph()
    params = copy_params(y.address, x.address, height=2)
    node = done(add_node(graph, params))
    assert code(cu.cuGraphExecNodeSetParams(executable_of(graph), node, params)) == "INVALID_VALUE"


def conditional(graph: Any, kind: str) -> None:
    add_conditional(graph, new_condition(graph, 1), kind)


UPDATES: dict[str, tuple[Callable[[Any, int], Any], Callable[[Any, int], Any]]] = {
    "the rows of a fill": (
        lambda graph, x: done(add_node(graph, fill_params(x, height=2))),
        lambda graph, x: done(add_node(graph, fill_params(x, height=3))),
    ),
    "the kind of memory of a copy": (
        lambda graph, x: done(add_node(graph, copy_params(x, x))),
        lambda graph, x: done(add_node(graph, copy_params(x, x, kind="HOST"))),
    ),
    "the kind of a conditional": (
        lambda graph, x: conditional(graph, "IF"),
        lambda graph, x: conditional(graph, "WHILE"),
    ),
}


@pytest.mark.parametrize("what", UPDATES)
def test_an_update_does_not_change(what: str) -> None:
    x, graph, fresh = ints(*range(8)), new_graph(), new_graph()
    for make, into in zip(UPDATES[what], (graph, fresh), strict=True):
        make(into, x.address)
    assert code(cu.cuGraphExecUpdate(executable_of(graph), fresh)) == "GRAPH_EXEC_UPDATE_FAILURE"


@pytest.mark.emulator_only
def test_a_loop_that_does_not_end_is_given_up(stream: Any, emulator: Emulator) -> None:
    graph = new_graph()
    add_conditional(graph, new_condition(graph, 1), "WHILE")
    done(cu.cuGraphLaunch(executable_of(graph), stream))
    assert code(cu.cuStreamSynchronize(stream)) == "LAUNCH_TIMEOUT"
    emulator.reset()
    done(launch(stream, "add", ints(1), 1))
    done(cu.cuStreamSynchronize(stream))
