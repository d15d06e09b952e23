"""What lowerings talk to on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import length_hint
from typing import Any, ClassVar

import numpy as np

from eagle.plugin import Blueprint, BuildError, Guard, LowerContext, Placed, Plane, Step, guard_reader
from eagle_cpu.host_memory import host_view
from eagle_cpu.team import run as run_on_team
from eagle_cpu.team import team_size

__all__ = ["CpuContext", "CpuStep"]


class CpuStep(Step):
    """A callable without arguments that does the step's work on the calling thread."""

    __slots__ = ("run",)

    def __init__(self, run: Callable[[], object]) -> None:
        self.run = run

    def __call__(self) -> None:
        """Do the work."""
        self.run()


class CpuContext(LowerContext):
    """Makes closures: a step is a Python callable.

    Attributes
    ----------
    watched : bool
        Whether a step touches memory itself, so that every launch checks all planes first.
    """

    backend: ClassVar[str] = "cpu"

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.watched = False
        self._calls_python = False

    def view(self, plane: Plane) -> np.ndarray[Any, np.dtype[Any]]:
        """Return a NumPy array over the memory of a host plane, whatever library the array is from.

        From then on every launch checks that no plane of the graph has moved.

        Raises
        ------
        BuildError
            The memory is another device's.
        """
        memory = plane.memory
        if memory.device[0] != "cpu" or memory.space != "process":
            where = memory.device[0] if memory.device[0] != "cpu" else repr(memory.space)
            raise BuildError(
                f"it is in {where} memory, which backend 'cpu' cannot reach",
                fix="A copy across devices runs on the backend of the device: build a graph of its own for it.",
                planes=(plane.access.name,),
            )
        self.watched = True
        self.keep(plane)
        return host_view(memory)

    def over_memory(self, placed: Placed[Any], work: Callable[[], object]) -> Step:
        """Make a step of work over views of `placed`'s planes.

        A launch has checked the planes before it began. Where Python code runs in the same graph, which can resize an
        array, they are checked again right before the work.
        """

        def run() -> None:
            if self._calls_python:
                placed.recheck()
            work()

        return CpuStep(run)

    @property
    def team(self) -> int:
        """How many threads a native step may be spread over."""
        return team_size()

    def native(self, entry: int, args: int, /, *, samples: int = 1, grain: int = 1, cost_ns: float = 1.0) -> Step:
        """Make a step of compiled code.

        The code is called over disjoint ranges that cover ``0 .. samples`` once, in any order, on any thread, without
        the interpreter's lock, cuts at multiples of `grain`, in the default floating-point environment. It must not
        throw or touch Python, gives the same bits for any cut, and calls ``poll`` at least every 20 ms of work.

        Parameters
        ----------
        entry : int
            The address of an ``eagle_entry`` (``eagle/exec/abi.h``).
        args : int
            The address handed to it; keep what lies there alive with `keep`.
        samples, grain : int
        cost_ns : float
            A guess at the nanoseconds one sample takes: it decides how many threads are worth waking, and nothing else.

        Notes
        -----
        A positive code is raised by a check of `after_run` that looks at what the code left in `args`, else it is a
        `RuntimeError`.
        """
        checked = len(self._after)
        placed = self._nesting[-1]

        def work() -> None:
            code = run_on_team(entry, args, samples, grain, cost_ns=cost_ns)
            if code and len(self._after) == checked:
                raise RuntimeError(f"the native code of node {placed.label!r} failed with code {code}")

        self.watched = True
        return self.over_memory(placed, work)

    def call(self, fn: Callable[[], object], /) -> Step:
        """Run `fn`."""
        self._calls_python = True
        return CpuStep(fn)

    def sequence(self, blueprint: Blueprint, steps: Sequence[Step], /) -> Step:
        """Run the steps in order; what one raises is blamed on its node."""
        calls = calls_of(steps)

        def run() -> None:
            ahead = iter(calls)
            try:
                for call in ahead:
                    call()
            except BaseException as error:
                blame(blueprint, error, len(calls) - 1 - length_hint(ahead))
                raise

        return CpuStep(run)

    def when(self, guard: Guard, then: Step, /) -> Step:
        """Read the guard, then run or not."""
        holds = guard_reader(guard)
        (call,) = calls_of([then])

        def run() -> None:
            if holds():
                call()

        return CpuStep(run)

    def repeat(
        self,
        guard: Guard | None,
        body: Step,
        /,
        *,
        limit: int | None = None,
        report: Callable[[int, bool], object] | None = None,
    ) -> Step:
        """Read the guard before each iteration; once more after the last one allowed, to tell what ended the loop."""
        holds = guard_reader(guard) if guard is not None else None
        (call,) = calls_of([body])

        def run() -> None:
            iterations = 0
            while (going := holds is None or holds()) and iterations != limit:
                call()
                iterations += 1
            if report is not None:
                report(iterations, going)

        return CpuStep(run)


def blame(blueprint: Blueprint, error: BaseException, index: int, repetition: int | None = None) -> None:
    """Blame `error` on a node, unless an interrupt landed before the first one began."""
    if index >= 0:
        blueprint.blame(error, index, repetition)


def calls_of(steps: Sequence[Step]) -> list[Callable[[], object]]:
    """Return what to call for each step."""
    calls = []
    for step in steps:
        if not isinstance(step, CpuStep):
            raise BuildError(f"{step!r} is no step of backend 'cpu'", fix="Return what the context makes.")
        calls.append(step.run)
    return calls
