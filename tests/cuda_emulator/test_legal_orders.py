"""Whatever the seed, what has to come before comes before: random programs against a model of happens-before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda_arrays import DeviceArray
from cuda_calls import add_kernel, done, ints, launch, new_event, new_graph, new_stream
from cuda_emulator import Emulator
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

STREAMS = ("non-blocking", "non-blocking", "blocking", "blocking", "legacy")
STEPS = st.one_of(
    st.tuples(st.just("launch"), st.integers(0, 4), st.just(0)),
    st.tuples(st.just("record"), st.integers(0, 4), st.integers(0, 2)),
    st.tuples(st.just("wait"), st.integers(0, 4), st.integers(0, 2)),
    st.tuples(st.just("graph"), st.integers(0, 4), st.integers(0, 1)),
)
EXAMPLES = settings().max_examples // 4  # of the profile: a program is not quick
NODES = 4  # of each graph: the first before the second and third, those before the fourth


class Model:
    """What is known to have ended before whatever a stream does next: sets of stamps."""

    def __init__(self) -> None:
        self.before: list[set[int]] = [set() for _ in STREAMS]
        self.events: list[set[int] | None] = [None] * 3
        self.graphs: list[set[int]] = [set() for _ in range(2)]
        self.order: list[tuple[int, int]] = []

    def start(self, stream: int) -> set[int]:
        """Return what an operation enqueued on the stream now comes after."""
        known = set(self.before[stream])
        if STREAMS[stream] == "legacy":
            known.update(*(self.before[i] for i, kind in enumerate(STREAMS) if kind == "blocking"))
        elif STREAMS[stream] == "blocking":
            known |= self.before[STREAMS.index("legacy")]
        return known

    def finish(self, stream: int, known: set[int]) -> None:
        self.before[stream] = known

    def stamp(self, number: int, known: set[int]) -> None:
        self.order += [(earlier, number) for earlier in known]


class Machine:
    """The same program on the emulated device: each kernel notes when it ran."""

    def __init__(self) -> None:
        self.streams = [self._stream(kind) for kind in STREAMS]
        self.events = [new_event() for _ in range(3)]
        self.stamps = DeviceArray(np.zeros(400, np.int32))
        self.clock = ints(0)
        self.graphs = [self._graph(i) for i in range(2)]
        self.used = 2 * NODES

    @staticmethod
    def _stream(kind: str) -> Any:
        return cu.CU_STREAM_LEGACY if kind == "legacy" else new_stream(blocking=kind == "blocking")

    def _graph(self, number: int) -> Any:
        graph, at = new_graph(), [self.stamps[number * NODES + i :] for i in range(NODES)]
        first = add_kernel(graph, "stamp", at[0], self.clock)
        middle = tuple(add_kernel(graph, "stamp", at[i], self.clock, after=(first,)) for i in (1, 2))
        add_kernel(graph, "stamp", at[3], self.clock, after=middle)
        return done(cu.cuGraphInstantiate(graph, 0))

    def launch(self, stream: int) -> int:
        number = self.used
        self.used += 1
        done(launch(self.streams[stream], "stamp", self.stamps[number:], self.clock))
        return number

    def close(self) -> None:
        for stream, kind in zip(self.streams, STREAMS, strict=True):
            if kind != "legacy":
                done(cu.cuStreamDestroy(stream))
        for executable in self.graphs:
            done(cu.cuGraphExecDestroy(executable))


def play(machine: Machine, model: Model, step: tuple[str, int, int]) -> None:
    what, stream, which = step
    known = model.start(stream)
    if what == "launch":
        number = machine.launch(stream)
        model.stamp(number, known)
        model.finish(stream, known | {number})
    elif what == "record":
        done(cu.cuEventRecord(machine.events[which], machine.streams[stream]))
        model.events[which] = known
        model.finish(stream, known)
    elif what == "wait":
        done(cu.cuStreamWaitEvent(machine.streams[stream], machine.events[which], 0))
        recorded = model.events[which]
        if recorded is not None:  # cuStreamWaitEvent: for an event that was never recorded it is a functional no-op
            model.finish(stream, known | recorded)
    else:
        play_graph(machine, model, stream, which)


def play_graph(machine: Machine, model: Model, stream: int, which: int) -> None:
    """Launch a graph once: its stamps are of its last launch, so a second one would hide the first."""
    if model.graphs[which]:
        return
    known = model.start(stream)
    done(cu.cuGraphLaunch(machine.graphs[which], machine.streams[stream]))
    a, b, c, d = nodes = range(which * NODES, (which + 1) * NODES)
    for number in nodes:
        model.stamp(number, known)
    model.order += [(a, b), (a, c), (b, d), (c, d)]
    model.graphs[which] = set(nodes)
    model.finish(stream, known | set(nodes))


@pytest.mark.property
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=2, max_size=30), st.integers(0, 1000))
@example([("launch", 2, 0), ("wait", 4, 0), ("launch", 3, 0)], 0)  # the legacy stream joins nothing by a no-op
def test_no_order_is_illegal(emulator: Emulator, steps: list[tuple[str, int, int]], seed: int) -> None:
    emulator.reset()
    machine, model = Machine(), Model()
    emulator.seed(seed)
    for step in steps:
        play(machine, model, step)
    done(cu.cuCtxSynchronize())
    stamps = machine.stamps.to_numpy()
    machine.close()
    assert all(0 < stamps[earlier] < stamps[later] for earlier, later in model.order)


@pytest.mark.property
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=8, max_size=20), st.integers(0, 1000), st.integers(0, 3))
def test_waiting_for_one_stream_is_waiting_for_what_it_needs(
    emulator: Emulator, steps: list[tuple[str, int, int]], seed: int, stream: int
) -> None:
    emulator.reset()
    machine, model = Machine(), Model()
    emulator.seed(seed)
    for step in steps:
        play(machine, model, step)
    done(cu.cuStreamSynchronize(machine.streams[stream]))
    ran = machine.stamps.to_numpy() > 0
    needed = model.before[stream]
    assert all(ran[number] for number in needed)
    done(cu.cuCtxSynchronize())
    machine.close()
