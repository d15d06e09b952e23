"""The rules of stream capture, each broken once; and what a capture makes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda_calls import (
    GLOBAL,
    RELAXED,
    SEEDS,
    THREAD_LOCAL,
    Result,
    add_kernel,
    code,
    done,
    ints,
    launch,
    new_event,
    new_graph,
    new_stream,
    run,
    value,
)
from cuda_emulator import Emulator

SET, ADD = (
    cu.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES,
    cu.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_ADD_CAPTURE_DEPENDENCIES,
)


def begin(stream: Any, mode: Any = THREAD_LOCAL) -> None:
    done(cu.cuStreamBeginCapture(stream, mode))


def end(stream: Any) -> str:
    """End a capture that may have failed; destroy the graph."""
    result = cu.cuStreamEndCapture(stream)
    if result[0] == Result.CUDA_SUCCESS:
        done(cu.cuGraphDestroy(result[1]))
    return code(result)


def fork(origin: Any, branch: Any) -> None:
    event = new_event()
    done(cu.cuEventRecord(event, origin))
    done(cu.cuStreamWaitEvent(branch, event, 0))


def on_thread(call: Callable[[], Any]) -> Any:
    """Call in another thread with the same context."""
    context, answers = done(cu.cuCtxGetCurrent()), []

    def body() -> None:
        cu.cuCtxSetCurrent(context)
        answers.append(call())

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return answers[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_fork_and_join_become_edges(stream: Any, other: Any, emulator: Emulator, seed: int) -> None:
    emulator.seed(seed)
    x, y = ints(1), ints(1)
    begin(stream)
    done(launch(stream, "put", x, 3))
    fork(stream, other)
    done(launch(other, "move", y, x))
    done(launch(stream, "put", x, 3))
    fork(other, stream)
    done(launch(stream, "mul", y, 2))
    graph = done(cu.cuStreamEndCapture(stream))
    assert done(cu.cuGraphGetNodes(graph, 9))[1] == 4
    assert done(cu.cuGraphGetEdges(graph, 9))[3] == 4
    run(graph, other)
    assert value(y) == 6


def test_what_is_captured_does_not_run(stream: Any, emulator: Emulator) -> None:
    x = ints(1)
    assert emulator.pending() == 0
    begin(stream)
    done(launch(stream, "put", x, 3))
    assert emulator.pending() == 0
    assert emulator.live()["captures"] == 1
    assert end(stream) == "SUCCESS"
    assert emulator.live()["captures"] == 0
    assert value(x) == 1


def test_capture_of_the_legacy_stream_is_refused() -> None:
    assert code(cu.cuStreamBeginCapture(0, RELAXED)) == "STREAM_CAPTURE_UNSUPPORTED"


def test_a_stream_captures_once_at_a_time(stream: Any) -> None:
    begin(stream)
    assert code(cu.cuStreamBeginCapture(stream, THREAD_LOCAL)) == "ILLEGAL_STATE"
    assert end(stream) == "SUCCESS"
    assert code(cu.cuStreamEndCapture(stream)) == "ILLEGAL_STATE"


class Things:
    """What the unsafe calls need, made before the capture."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.array = ints(1)
        self.graph = new_graph()
        self.host = np.zeros(1, np.int32)


UNSAFE: dict[str, Callable[[Things], Any]] = {
    "allocation": lambda _: cu.cuMemAlloc(64),
    "allocation of pinned memory": lambda _: cu.cuMemHostAlloc(64, 0),
    "free": lambda it: cu.cuMemFree(it.array.address),
    "synchronous copy": lambda it: cu.cuMemcpyDtoH(it.host.ctypes.data, it.array.address, 4),
    "synchronising another stream": lambda it: cu.cuStreamSynchronize(it.stream),
    "querying another stream": lambda it: cu.cuStreamQuery(it.stream),
    "loading a module": lambda _: cu.cuModuleLoadData(b"\x7fELF" + bytes(60)),
    "instantiation": lambda it: cu.cuGraphInstantiate(it.graph, 0),
}


# What the documentation calls unsafe only by implication, if at all: README.md, "Stricter than documented".
STRICTER = {"synchronising another stream", "querying another stream", "loading a module", "instantiation"}


def strictly(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.emulator_only) if name in STRICTER else name


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL], ids=["global", "thread-local"])
@pytest.mark.parametrize("name", [strictly(name) for name in UNSAFE])
def test_an_unsafe_call_invalidates_a_capture_of_its_thread(stream: Any, other: Any, name: str, mode: Any) -> None:
    it = Things(other)
    begin(stream, mode)
    assert code(UNSAFE[name](it)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert code(launch(stream, "add", it.array, 1)) == "STREAM_CAPTURE_INVALIDATED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_a_relaxed_capture_lets_unsafe_calls_be(stream: Any) -> None:
    begin(stream, RELAXED)
    done(cu.cuMemFree(done(cu.cuMemAlloc(64))))
    assert end(stream) == "SUCCESS"


def test_a_global_capture_forbids_unsafe_calls_to_other_threads_too(stream: Any) -> None:
    begin(stream, GLOBAL)
    assert on_thread(lambda: code(cu.cuMemAlloc(64))) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_a_thread_local_capture_is_not_the_business_of_other_threads(stream: Any) -> None:
    begin(stream, THREAD_LOCAL)
    assert on_thread(lambda: code(cu.cuMemAlloc(64))) == "SUCCESS"
    assert end(stream) == "SUCCESS"


@pytest.mark.parametrize(("mode", "answer"), [(THREAD_LOCAL, "SUCCESS"), (RELAXED, "SUCCESS")])
def test_a_thread_may_opt_out_of_the_captures_of_others(stream: Any, mode: Any, answer: str) -> None:
    begin(stream, GLOBAL)

    def call() -> str:
        done(cu.cuThreadExchangeStreamCaptureMode(mode))
        return code(cu.cuMemAlloc(64))

    assert on_thread(call) == answer
    assert end(stream) == "SUCCESS"


@pytest.mark.parametrize("call", [cu.cuStreamSynchronize, cu.cuStreamQuery])
@pytest.mark.parametrize("mode", [THREAD_LOCAL, RELAXED])
def test_a_capturing_stream_may_not_be_waited_for_in_any_mode(stream: Any, call: Any, mode: Any) -> None:
    begin(stream, mode)
    assert code(call(stream)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_the_context_may_not_be_waited_for_while_anything_captures(stream: Any) -> None:
    begin(stream, RELAXED)
    assert code(cu.cuCtxSynchronize()) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


@pytest.mark.parametrize("call", [cu.cuEventQuery, cu.cuEventSynchronize])
def test_a_captured_event_may_not_be_asked(stream: Any, call: Any) -> None:
    event = new_event()
    begin(stream, RELAXED)
    done(cu.cuEventRecord(event, stream))
    assert code(call(event)) == "CAPTURED_EVENT"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_an_event_outlives_its_capture_in_vain(stream: Any, other: Any) -> None:
    event = new_event()
    begin(stream)
    done(cu.cuEventRecord(event, stream))
    assert end(stream) == "SUCCESS"
    assert code(cu.cuStreamWaitEvent(other, event, 0)) == "CAPTURED_EVENT"


def test_a_capture_may_not_wait_for_work_outside_it(stream: Any, other: Any) -> None:
    event = new_event()
    done(cu.cuEventRecord(event, other))
    begin(stream)
    assert code(cu.cuStreamWaitEvent(stream, event, 0)) == "STREAM_CAPTURE_ISOLATION"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_an_external_wait_and_record_become_nodes(stream: Any) -> None:
    event = new_event()
    begin(stream)
    done(cu.cuStreamWaitEvent(stream, event, cu.CUevent_wait_flags.CU_EVENT_WAIT_EXTERNAL))
    done(cu.cuEventRecordWithFlags(event, stream, cu.CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL))
    graph = done(cu.cuStreamEndCapture(stream))
    nodes, _ = done(cu.cuGraphGetNodes(graph, 2))
    assert [done(cu.cuGraphNodeGetType(node)).name[19:] for node in nodes] == ["WAIT_EVENT", "EVENT_RECORD"]


def test_two_captures_may_not_merge(stream: Any, other: Any) -> None:
    event = new_event()
    begin(stream)
    begin(other)
    done(cu.cuEventRecord(event, stream))
    assert code(cu.cuStreamWaitEvent(other, event, 0)) == "STREAM_CAPTURE_MERGE"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"
    assert end(other) == "STREAM_CAPTURE_INVALIDATED"


def test_a_fork_has_to_be_joined(stream: Any, other: Any, emulator: Emulator) -> None:
    before = emulator.live()["graphs"]
    x = ints(1)
    begin(stream)
    fork(stream, other)
    done(launch(other, "add", x, 1))
    assert end(stream) == "STREAM_CAPTURE_UNJOINED"
    assert emulator.live()["graphs"] == before
    done(launch(other, "add", x, 1))  # both streams are as they were
    done(cu.cuStreamSynchronize(other))
    assert value(x) == 2


def test_a_fork_whose_stream_was_destroyed_has_to_be_joined_too(stream: Any) -> None:
    branch, x = new_stream(), ints(1)
    begin(stream)
    fork(stream, branch)
    done(launch(branch, "add", x, 1))
    done(cu.cuStreamDestroy(branch))
    assert end(stream) == "STREAM_CAPTURE_UNJOINED"


def test_a_capture_ends_where_it_began(stream: Any, other: Any) -> None:
    begin(stream)
    fork(stream, other)
    assert end(other) == "STREAM_CAPTURE_UNMATCHED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_a_capture_ends_in_the_thread_where_it_began(stream: Any) -> None:
    begin(stream)
    assert on_thread(lambda: end(stream)) == "STREAM_CAPTURE_WRONG_THREAD"
    assert end(stream) == "SUCCESS"
    begin(stream, RELAXED)
    assert on_thread(lambda: end(stream)) == "SUCCESS"


@pytest.mark.parametrize("legacy", [0, cu.CU_STREAM_LEGACY])
def test_the_legacy_stream_is_unusable_while_a_blocking_stream_captures(legacy: Any) -> None:
    blocking, x = new_stream(blocking=True), ints(1)
    begin(blocking, RELAXED)
    assert code(cu.cuStreamIsCapturing(legacy)) == "STREAM_CAPTURE_IMPLICIT"
    assert code(launch(legacy, "add", x, 1)) == "STREAM_CAPTURE_IMPLICIT"
    assert end(blocking) == "STREAM_CAPTURE_INVALIDATED"


def test_the_legacy_stream_does_not_mind_a_non_blocking_capture(stream: Any) -> None:
    x = ints(1)
    begin(stream, RELAXED)
    done(launch(0, "add", x, 1))
    assert end(stream) == "SUCCESS"
    assert value(x) == 2


@pytest.mark.emulator_only
def test_a_graph_launch_is_not_captured(stream: Any) -> None:
    executable = done(cu.cuGraphInstantiate(new_graph(), 0))
    begin(stream)
    assert code(cu.cuGraphLaunch(executable, stream)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end(stream) == "STREAM_CAPTURE_INVALIDATED"


def test_a_piece_is_captured_after_exactly_its_predecessors(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    first = add_kernel(graph, "add", x, 1)
    add_kernel(graph, "add", x, 1)
    done(cu.cuStreamBeginCaptureToGraph(stream, graph, [first], None, 1, THREAD_LOCAL))
    done(launch(stream, "mul", x, 5))
    status, _, held, tips, _, count = done(cu.cuStreamGetCaptureInfo(stream))
    assert status == cu.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    assert int(held) == int(graph)
    assert count == 1
    assert [int(n) for n in done(cu.cuGraphNodeGetDependencies(tips[0], 4))[0][:1]] == [int(first)]
    done(cu.cuStreamEndCapture(stream))
    done(cu.cuGraphDestroy(graph))


def test_a_graph_is_captured_into_from_one_stream_at_a_time(stream: Any, other: Any) -> None:
    graph = new_graph()
    done(cu.cuStreamBeginCaptureToGraph(stream, graph, None, None, 0, THREAD_LOCAL))
    again = cu.cuStreamBeginCaptureToGraph(other, graph, None, None, 0, THREAD_LOCAL)
    assert code(again) == "INVALID_VALUE"
    done(cu.cuStreamEndCapture(stream))


def test_a_graph_is_neither_instantiated_nor_destroyed_while_it_is_captured_into(stream: Any) -> None:
    graph = new_graph()
    done(cu.cuStreamBeginCaptureToGraph(stream, graph, None, None, 0, RELAXED))
    assert code(cu.cuGraphInstantiate(graph, 0)) == "ILLEGAL_STATE"
    assert code(cu.cuGraphDestroy(graph)) == "INVALID_VALUE"
    assert end(stream) == "SUCCESS"


def test_the_next_nodes_dependencies_can_be_changed(stream: Any) -> None:
    x = ints(1)
    assert code(cu.cuStreamUpdateCaptureDependencies(stream, None, None, 0, SET)) == "ILLEGAL_STATE"
    begin(stream)
    done(launch(stream, "add", x, 1))
    first = done(cu.cuStreamGetCaptureInfo(stream))[3][0]
    done(cu.cuStreamUpdateCaptureDependencies(stream, None, None, 0, SET))
    done(launch(stream, "add", x, 1))
    done(cu.cuStreamUpdateCaptureDependencies(stream, [first], None, 1, ADD))
    assert done(cu.cuStreamGetCaptureInfo(stream))[5] == 2
    assert end(stream) == "SUCCESS"  # what was taken out of the set need not be joined


def test_a_capture_is_over_when_its_stream_is_destroyed(emulator: Emulator) -> None:
    before = emulator.live()
    stream = new_stream()
    begin(stream)
    done(cu.cuStreamDestroy(stream))
    assert emulator.live() == before
