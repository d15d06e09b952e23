"""What lowerings talk to on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import length_hint
from typing import Any, ClassVar

import numpy as np

from eagle.plugin import Blueprint, BuildError, Guard, LowerContext, Placed, Plane, Step, guard_reader
from eagle_cpu.host_memory import host_view

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
    viewed : list of Plane
        The planes whose memory a step holds on to, so that they are checked before every launch.
    """

    backend: ClassVar[str] = "cpu"

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.viewed: list[Plane] = []
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
        self.viewed.append(plane)
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
