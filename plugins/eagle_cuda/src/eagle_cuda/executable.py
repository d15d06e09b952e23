"""A graph built for the GPU."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from eagle.plugin import BackendUnavailable, Blueprint, Executable, Step
from eagle_cuda.callers import apart_if_legacy, callers_streams, on_stream, refuse_captured
from eagle_cuda.context import CudaContext
from eagle_cuda.device import CudaDevice, device
from eagle_cuda.driver import call
from eagle_cuda.errors import CudaError
from eagle_cuda.launching import LaunchStep
from eagle_cuda.lifetime import Holdings, apart_from_captures, when_nothing_is_captured
from eagle_cuda.planes import device_of
from eagle_cuda.script import Choice, HostCall, Piece, Replay, Script
from eagle_cuda.segments import cut, cuts, decisions, words
from eagle_cuda.steps import HostStep, blame, cuda_steps, lay_out_nodes
from eagle_cuda.waiting import wait_for, whole

__all__ = ["CudaExecutable"]

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING


class CudaExecutable(Executable):
    """Launches captured graphs and calls the host's nodes between them, on a stream of its own.

    Everything is on one stream, so that runs follow each other; the caller's streams are waited for before it and
    wait for it after. What was queued is never waited for by the host except for a node with ``eager=True`` and, where
    the driver has no conditional nodes, for what a guard says.

    It is released by a finalizer that holds what is of the device and no code of the user's, in place of `close`, which
    the finalizer of the graph would hold with all of it: an object that holds a graph one of whose nodes is a method of
    the object would then never go.
    """

    def __init__(self, blueprint: Blueprint, context: CudaContext, steps: Sequence[Step]) -> None:
        self._context = context
        self._device = device(context.device)
        self._pid = os.getpid()
        self._holdings = Holdings()
        self._work = _Work(self._device, self._holdings)
        self._take(blueprint)
        self._finalizer = weakref.finalize(self, self._work.close)
        self._finalizer.atexit = False  # threads may still be at it: then it is only waited for
        self._steps = cuda_steps(steps)
        self._segments = tuple(cut(blueprint, self._steps))
        self.schedule = words(blueprint, self._segments, self._steps)
        try:
            self._build()
        except BaseException:
            self._finalizer()
            raise
        captured = any(segment.host is None for segment in self._segments)
        self.counters: Mapping[str, int] = {"captures": int(captured), "graph_builds": int(captured)}

    def _take(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint
        # Each array once, however many nodes touch it: this is looked at in every launch.
        planes = (plane for placed in blueprint.nodes for plane in placed.planes)
        self._planes = tuple({id(plane.access.array): plane for plane in planes}.values())
        self._work.arrays = [plane.access.array for plane in self._planes]

    # building ---------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        own = self._holdings.own
        self._work.stream = self._stream = call("cuStreamCreate", _NON_BLOCKING)
        own("cuStreamDestroy", self._stream)
        self._event = call("cuEventCreate", _NO_TIMING)
        own("cuEventDestroy", self._event)
        # Captures are made on a blocking stream: there the driver refuses work on the legacy default stream, which
        # on a non-blocking one would run once, now, and never again.
        capturing = call("cuStreamCreate", 0)
        try:
            script = Script(self._device, capturing, self._holdings)
            for segment in self._segments:
                if segment.host is not None:
                    script.call(segment.host, segment.indices[0])
                else:
                    lay_out_nodes(script, self._blueprint, self._steps, segment.indices, own=True)
            self._pieces = script.pieces()
        finally:
            call("cuStreamDestroy", capturing)

    # running ----------------------------------------------------------------------------------------------------------

    def enqueue(self, n: int, /) -> None:
        """Queue `n` runs behind what the caller's streams have to do, and have those wait for them."""
        self._same_process()
        if any(plane.adapter.probe(plane.access.array) != plane.mark for plane in self._planes):
            self._blueprint.recheck()
        self._context.check_before(self._blueprint)
        if n == 0:
            return
        with self._device.current(), self._named(), self._in_order_with_callers(), self._ending_loops():
            for repetition in range(1, n + 1):
                if self._has_failed():
                    break
                self._context.ledger.begin(self._stream)
                self._run(self._pieces, repetition)

    def _run(self, pieces: Sequence[Piece], repetition: int) -> None:
        for piece in pieces:
            match piece:
                case Replay():
                    call("cuGraphLaunch", piece.graph, self._stream)
                case HostCall():
                    self._run_on_host(piece.step, piece.index, repetition)
                case Choice(loop=True):
                    whole(self._device, partial(self._repeat, piece.body, repetition), self._context.ledger.stop)
                case Choice():
                    if self._answer():
                        self._run(piece.body, repetition)

    def _repeat(self, body: Sequence[Piece], repetition: int) -> None:
        while self._answer():
            self._run(body, repetition)

    def _answer(self) -> bool:
        """Wait for what the kernel that was launched last says of its guard."""
        self._wait_here()
        return self._context.ledger.answer

    def _has_failed(self) -> bool:
        """Whether an earlier repetition failed, where the host has to see to it that those after it change nothing."""
        ledger = self._context.ledger
        if not ledger.watched:
            return False
        self._wait_here()
        return ledger.failed(self._stream)

    def synchronize(self) -> None:
        """Wait for everything queued, then report what loops did and raise what the work recorded."""
        self._same_process()
        ledger = self._context.ledger
        with self._device.current(), self._named():
            with self._ending_loops():
                self._wait_here()
            ledger.settle(self._stream)
        self._context.check_after(self._blueprint)

    def rebind(self, blueprint: Blueprint, changed: Sequence[int], /) -> bool:
        """Set the parameters of kernel nodes, once what is queued has run with the old ones."""
        self._same_process()
        with self._device.current(), self._named():
            if device_of(blueprint) != self._context.device:
                return False
            self._wait_here()
            if not all(self._patch(blueprint, index) for index in changed):
                return False
        self._take(blueprint)
        return True

    def _patch(self, blueprint: Blueprint, index: int) -> bool:
        step = self._steps[index]
        graph = next(one.graph for one in self._pieces if isinstance(one, Replay) and index in one.indices)
        return isinstance(step, LaunchStep) and step.patch(graph, blueprint.nodes[index])

    def notes(self) -> Sequence[str]:
        """Say where the graph is cut, and what for."""
        why = self._device.abilities.without_nodes
        return cuts(self._blueprint, self._segments) + decisions(self._blueprint, self._steps, why)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say of an error of the driver which graph it came from."""
        try:
            yield
        except CudaError as error:
            labels = [placed.label for placed in self._blueprint.nodes]
            error.add_note(f"in the graph of {', '.join(map(repr, labels[:3]))}{', ...' if len(labels) > 3 else ''}")
            raise

    @contextmanager
    def _ending_loops(self) -> Iterator[None]:
        """On Ctrl-C end the loops in flight, and report what they did, before the interrupt goes on."""
        ledger = self._context.ledger
        try:
            yield
        except KeyboardInterrupt as interrupt:
            if ledger.stoppable or ledger.decided_by_host:
                ledger.stop()
                interrupt.add_note("the loops of the graph were stopped before their end")
                try:
                    ledger.settle(self._stream)
                except Exception as error:
                    interrupt.add_note(f"and the run had failed: {error}")
            raise

    @contextmanager
    def _in_order_with_callers(self) -> Iterator[None]:
        """Have our stream wait for the caller's, and theirs for ours at the end, whatever happens between."""
        theirs = callers_streams(self._context.device)
        with apart_if_legacy(*theirs):
            for stream in theirs:
                refuse_captured(stream)
                self._wait(stream, self._stream)
        try:
            yield
        finally:
            with apart_if_legacy(*theirs):
                for stream in theirs:
                    self._wait(self._stream, stream)

    def _run_on_host(self, step: HostStep, index: int, repetition: int) -> None:
        try:
            if step.stream is None:
                self._wait_for_device()
                step.fn()
                self._wait_for_device()
                return
            with apart_if_legacy(step.stream):
                self._wait(self._stream, step.stream)
            try:
                with on_stream(self._context.device, step.stream):
                    step.fn()
            finally:
                with apart_if_legacy(step.stream):
                    self._wait(step.stream, self._stream)
        except BaseException as error:
            blame(self._blueprint, index, error, repetition)
            raise

    def _wait(self, first: Any, then: Any) -> None:
        """Have what is queued on a stream from now on wait for what is queued on another one by now."""
        call("cuEventRecord", self._event, first)
        call("cuStreamWaitEvent", then, self._event, 0)

    def _wait_here(self) -> None:
        """Have the host wait for what is queued."""
        wait_for(self._device, self._stream, interruptible=self._context.ledger.stoppable)

    def _wait_for_device(self) -> None:
        self._wait_here()
        with apart_from_captures():
            call("cuCtxSynchronize")

    def _same_process(self) -> None:
        if os.getpid() != self._pid:
            raise BackendUnavailable(
                "the graph was built by the process this one was forked from",
                why="a CUDA context does not survive fork",
                fix="Build the graph in this process, started with multiprocessing's 'spawn'.",
            )


class _Work:
    """What is in flight for a graph: a stream, what it uses of the driver, and the arrays it works on."""

    def __init__(self, device: CudaDevice, holdings: Holdings) -> None:
        self.stream: Any = None
        self._device = device
        self._holdings = holdings
        self.arrays: Sequence[object] = ()
        self._pid = os.getpid()
        _works.add(self)

    def close(self) -> None:
        """Wait for what is queued and release everything; later, if a capture is in flight."""
        if os.getpid() == self._pid:
            when_nothing_is_captured(self._release)

    def wait(self) -> None:
        """Wait for what is queued."""
        if os.getpid() == self._pid and self.stream is not None:
            # The driver may be shutting down, or the context is lost and all of it gone.
            with suppress(Exception), self._device.current():
                call("cuStreamSynchronize", self.stream)

    def _release(self) -> None:
        self.wait()
        with suppress(Exception), self._device.current():
            self._holdings.release()


_works: weakref.WeakSet[_Work] = weakref.WeakSet()


@atexit.register
def _wait_for_all() -> None:
    for work in list(_works):
        work.wait()
