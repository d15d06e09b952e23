"""Conditionals that the host drives, for drivers that have no conditional nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from eagle.plugin import BuildError, Guard, PlaneError, guard_reader
from eagle_cuda.conditions import refuse_unreadable
from eagle_cuda.device import CudaDevice
from eagle_cuda.driver import call
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.ledger import Ledger, word_at
from eagle_cuda.steps import CudaStep, HostStep, SequenceStep, add_nodes
from eagle_cuda.waiting import interruptibly

__all__ = ["DrivenStep", "Driver", "Instantiate"]

_FAILED = np.dtype([("failed", "u4"), ("_", "u4")])


Instantiate = Callable[[Callable[[GraphBuilder], object]], Any]
"""Makes an executable graph of what a callable puts into it."""


class Driver:
    """Launches graphs on a stream and waits for them, so that the host may look at what came of them."""

    def __init__(self, device: CudaDevice, stream: Any, ledger: Ledger) -> None:
        self._device, self._stream, self._ledger = device, stream, ledger

    def launch(self, graph: Any) -> None:
        """Queue a graph and wait for it."""
        call("cuGraphLaunch", graph, self._stream)
        call("cuStreamSynchronize", self._stream)

    def word(self, address: int) -> int:
        """Return a word of 32 bits on the device."""
        return word_at(address, self._stream)

    def until_interrupted(self, work: Callable[[], object]) -> None:
        """Do something that ends when the ledger says that loops are to."""
        interruptibly(self._device, work, self._ledger.stop)


class DrivenStep(HostStep):
    """A body that the host launches while a guard, which it reads back each time, is true.

    The device has to be waited for at every look. Nodes of the body are graphs as far as no other driven step stands
    between them.

    Parameters
    ----------
    device : CudaDevice
    ledger : Ledger
    here : tuple
        The place of the conditional, and what blames it: `order` and `blame` of a `Record`.
    guard : Guard or None
        None: always true.
    body : CudaStep
    limit : int or None
        The most times.
    once : bool
        Whether it is a condition and no loop.
    report : callable, optional
        ``report(times, limited)``, once it ended.
    """

    def __init__(
        self,
        device: CudaDevice,
        ledger: Ledger,
        here: tuple[tuple[int, ...], Callable[[BaseException], None]],
        guard: Guard | None,
        body: CudaStep,
        *,
        limit: int | None = None,
        once: bool = False,
        report: Callable[[int, bool], object] | None = None,
    ) -> None:
        super().__init__(_never, None)
        self._device, self._ledger = device, ledger
        self._failures: list[Exception] = []
        # Where the kernels of the body say that one of them failed, which ends the loop.
        self._record = ledger.add(_FAILED, here[0], partial(_taken, self._failures), here[1])
        refuse_unreadable(guard)
        self._holds = _always if guard is None else guard_reader(guard)
        self._body, self._limit, self._once, self._report = body, limit, once, report
        self._inside: list[DrivenStep] = []
        self._pieces: list[Callable[[], object]] = []
        self._driver: Driver | None = None

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Refuse: it is no node of a graph."""
        raise BuildError(
            "a conditional cannot stand beside other branches with this driver",
            why=f"the host has to drive it, as {self.why}",
            fix="Update the driver to one for CUDA 12.3 or newer, or make the conditional a stage of its own.",
        )

    @property
    def why(self) -> str:
        """What the driver lacks."""
        return f"the driver, for CUDA {self._device.cuda}, has no conditional nodes, which came with 12.3"

    def prepare(self, instantiate: Instantiate, driver: Driver) -> None:
        """Make the graphs of the body."""
        self._driver, self._inside = driver, []
        self._pieces = list(self._made(instantiate, driver))

    def _made(self, instantiate: Instantiate, driver: Driver) -> Iterator[Callable[[], object]]:
        body = self._body
        if isinstance(body, DrivenStep):
            yield self._nested(body, instantiate, driver)
            return
        if not isinstance(body, SequenceStep):
            yield self._graph(instantiate, driver, lambda builder: body.add(builder, []))
            return
        run: list[int] = []
        for index, step in enumerate(body.steps):
            if isinstance(step, DrivenStep):
                if run:
                    yield self._graph(instantiate, driver, _adding(body, run))
                yield self._nested(step, instantiate, driver)
                run = []
            else:
                run.append(index)
        if run:
            yield self._graph(instantiate, driver, _adding(body, run))

    def _graph(
        self, instantiate: Instantiate, driver: Driver, add: Callable[[GraphBuilder], object]
    ) -> Callable[[], object]:
        def inside(builder: GraphBuilder) -> None:
            self._ledger.allocate(builder)
            builder.in_body = True  # what may stand there is the same with every driver
            builder.around = self._ledger.address(self._record)
            add(builder)

        graph = instantiate(inside)
        return lambda: driver.launch(graph)

    def _nested(self, step: DrivenStep, instantiate: Instantiate, driver: Driver) -> Callable[[], object]:
        step.prepare(instantiate, driver)
        self._inside.append(step)
        return step._drive

    def run(self) -> None:
        """Launch the body as often as its guard says."""
        assert self._driver is not None
        self._driver.until_interrupted(self._drive)

    def _drive(self) -> None:
        times, limited = 0, False
        try:
            while not self._is_to_end() and self._is_wanted():
                limited = times == self._limit
                if limited:
                    break
                for piece in self._pieces:
                    piece()
                times += 1
                if self._once:
                    break
        finally:
            if self._report is not None:
                self._report(times, limited)

    def _is_to_end(self) -> bool:
        """Whether something in the body failed, or loops are to end."""
        return self._ledger.stopping or self._failed()

    def _is_wanted(self) -> bool:
        """Whether the guard is true. Where it is NaN the step does not run, and what waits for the run is told."""
        try:
            return self._holds()
        except PlaneError as error:
            self._failures.append(error)
            self._ledger.fail()
            return False

    def _failed(self) -> bool:
        assert self._driver is not None
        own = bool(self._failures) or bool(self._driver.word(self._ledger.address(self._record)))
        return own or any(step._failed() for step in self._inside)


def _adding(body: SequenceStep, indices: Sequence[int]) -> Callable[[GraphBuilder], object]:
    indices = tuple(indices)
    return lambda builder: add_nodes(builder, body.blueprint, body.steps, indices, [])


def _taken(failures: list[Exception], _: object) -> Exception | None:
    """Return the first failure, and leave none for the next run."""
    first = failures[0] if failures else None
    failures.clear()
    return first


def _always() -> bool:
    return True


def _never() -> None:
    raise AssertionError("a driven step runs its graphs")
