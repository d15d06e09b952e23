"""What comes after what: streams, events, the default streams; and that nothing runs before somebody waits."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest
from cuda.bindings import driver as cu
from cuda_calls import SEEDS, code, done, ints, launch, new_event, new_stream, value
from cuda_emulator import Emulator

LEGACY, PER_THREAD = cu.CU_STREAM_LEGACY, cu.CU_STREAM_PER_THREAD
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def outcomes(emulator: Emulator, producer: Any, consumer: Any, between: Any = None) -> set[int]:
    """Return what `consumer` may see of a value that `producer` writes, over the seeds."""
    seen = set()
    for seed in SEEDS:
        emulator.seed(seed)
        source, target = ints(1), ints(0)
        done(launch(producer, "put", source, 2))
        if between:
            between()
        done(launch(consumer, "move", target, source))
        done(cu.cuCtxSynchronize())
        seen.add(value(target))
    return seen


def test_nothing_runs_before_somebody_waits(stream: Any, emulator: Emulator) -> None:
    array = ints(1)
    done(launch(stream, "add", array, 1))
    assert emulator.pending() == 1
    assert "kernel add" not in emulator.trace()
    done(cu.cuStreamSynchronize(stream))
    assert emulator.pending() == 0
    assert emulator.trace() == ["kernel add"]


def test_one_stream_keeps_its_order(stream: Any, emulator: Emulator) -> None:
    assert outcomes(emulator, stream, stream) == {2}


def test_two_streams_run_in_either_order(stream: Any, other: Any, emulator: Emulator) -> None:
    assert outcomes(emulator, stream, other) == {1, 2}


def test_an_event_orders_two_streams(stream: Any, other: Any, emulator: Emulator) -> None:
    event = new_event()

    def order() -> None:
        done(cu.cuEventRecord(event, stream))
        done(cu.cuStreamWaitEvent(other, event, 0))

    assert outcomes(emulator, stream, other, order) == {2}


def test_an_event_never_recorded_orders_nothing(stream: Any, other: Any, emulator: Emulator) -> None:
    event = new_event()
    assert outcomes(emulator, stream, other, lambda: done(cu.cuStreamWaitEvent(other, event, 0))) == {1, 2}


def test_the_legacy_stream_waits_for_blocking_streams_and_they_for_it(emulator: Emulator) -> None:
    blocking = new_stream(blocking=True)
    assert outcomes(emulator, blocking, LEGACY) == {2}
    assert outcomes(emulator, LEGACY, blocking) == {2}


def test_the_legacy_stream_and_a_non_blocking_one_know_nothing_of_each_other(stream: Any, emulator: Emulator) -> None:
    assert outcomes(emulator, stream, LEGACY) == {1, 2}
    assert outcomes(emulator, LEGACY, stream) == {1, 2}


def test_the_per_thread_stream_is_a_blocking_one(stream: Any, emulator: Emulator) -> None:
    assert outcomes(emulator, PER_THREAD, LEGACY) == {2}
    assert outcomes(emulator, PER_THREAD, stream) == {1, 2}


def test_each_thread_has_a_per_thread_stream_of_its_own() -> None:
    mine = done(cu.cuStreamGetId(PER_THREAD))
    context = done(cu.cuCtxGetCurrent())
    theirs: list[int] = []

    def look() -> None:
        cu.cuCtxSetCurrent(context)
        theirs.append(done(cu.cuStreamGetId(PER_THREAD)))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert theirs != [mine]


@pytest.mark.emulator_only
def test_a_synchronous_copy_does_not_wait_for_a_non_blocking_stream(stream: Any) -> None:
    array = ints(1)
    done(launch(stream, "put", array, 2))
    assert value(array) == 1
    done(cu.cuStreamSynchronize(stream))
    assert value(array) == 2


@pytest.mark.emulator_only
def test_a_program_that_polls_comes_to_an_end(stream: Any) -> None:
    array = ints(0)
    for _ in range(20):
        done(launch(stream, "add", array, 1))
    assert code(cu.cuStreamQuery(stream)) == "NOT_READY"
    while code(cu.cuStreamQuery(stream)) == "NOT_READY":
        pass
    assert value(array) == 20


def test_the_same_seed_gives_the_same_order(stream: Any, other: Any, emulator: Emulator) -> None:
    orders = []
    for seed in (3, 3, 4):
        emulator.reset()
        emulator.seed(seed)
        array = ints(0)
        for i in range(8):
            done(launch((stream, other)[i % 2], ("add", "mul")[i % 2], array, 1))
        done(cu.cuCtxSynchronize())
        orders.append(emulator.trace())
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_every_seed_runs_everything_once(stream: Any, other: Any, emulator: Emulator) -> None:
    for seed in SEEDS:
        emulator.seed(seed)
        array = ints(0)
        for i in range(8):
            done(launch((stream, other)[i % 2], "add", array, 1))
        done(cu.cuCtxSynchronize())
        assert value(array) == 8


@pytest.mark.emulator_only
def test_a_host_function_runs_in_order_and_may_not_call_the_driver(stream: Any) -> None:
    array = ints(1)
    answers: list[Any] = []
    callback = CALLBACK(lambda _: answers.append(cu.cuMemAlloc(4)[0].name))
    done(launch(stream, "add", array, 1))
    done(cu.cuLaunchHostFunc(stream, cu.CUhostFn(ctypes.cast(callback, ctypes.c_void_p).value), 0))
    assert answers == []
    done(cu.cuStreamSynchronize(stream))
    assert answers == ["CUDA_ERROR_NOT_PERMITTED"]


def test_a_stream_may_be_destroyed_before_its_work_has_run(emulator: Emulator) -> None:
    stream, array = new_stream(), ints(1)
    done(launch(stream, "add", array, 1))
    done(cu.cuStreamDestroy(stream))
    assert code(launch(stream, "add", array, 1)) == "INVALID_HANDLE"
    done(cu.cuCtxSynchronize())
    assert value(array) == 2


def test_a_stream_of_another_context_is_not_for_these_kernels() -> None:
    here, array = done(cu.cuCtxGetCurrent()), ints(1)
    done(launch(0, "add", array, 1))
    done(cu.cuCtxSetCurrent(done(cu.cuDevicePrimaryCtxRetain(1))))
    elsewhere = new_stream()
    done(cu.cuCtxSetCurrent(here))
    assert code(launch(elsewhere, "add", array, 1)) == "INVALID_HANDLE"
    assert code(cu.cuEventRecord(new_event(), elsewhere)) == "INVALID_HANDLE"


@pytest.mark.emulator_only
def test_time_between_events_is_known_only_when_they_are_timed_and_done(stream: Any) -> None:
    start, end, untimed = new_event(timed=True), new_event(timed=True), new_event()
    done(cu.cuEventRecord(start, stream))
    done(cu.cuEventRecord(end, stream))
    assert code(cu.cuEventElapsedTime(start, end)) == "NOT_READY"
    done(cu.cuEventSynchronize(end))
    assert done(cu.cuEventElapsedTime(start, end)) >= 0
    assert code(cu.cuEventElapsedTime(start, untimed)) == "INVALID_HANDLE"


@pytest.mark.parametrize("call", [cu.cuStreamDestroy, cu.cuStreamSynchronize, cu.cuStreamQuery])
def test_a_destroyed_stream_is_refused(call: Any) -> None:
    stream = new_stream()
    done(cu.cuStreamDestroy(stream))
    assert code(call(stream)) == "INVALID_HANDLE"


def test_streams_and_events_are_counted(emulator: Emulator) -> None:
    before = emulator.live()
    stream, event = new_stream(), new_event()
    assert emulator.live() == {**before, "streams": before["streams"] + 1, "events": before["events"] + 1}
    done(cu.cuStreamDestroy(stream))
    done(cu.cuEventDestroy(event))
    assert emulator.live() == before


def test_the_legacy_stream_waits_for_a_blocking_stream_that_is_gone(emulator: Emulator) -> None:
    for seed in SEEDS:
        emulator.seed(seed)
        blocking, x, y = new_stream(blocking=True), ints(1), ints(0)
        done(launch(blocking, "put", x, 2))
        done(cu.cuStreamDestroy(blocking))
        done(launch(LEGACY, "move", y, x))
        assert value(y) == 2
