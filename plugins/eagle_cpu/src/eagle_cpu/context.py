"""What lowerings talk to on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import length_hint
from typing import Any, ClassVar

import numpy as np

from eagle.plugin import Blueprint, BuildError, Guard, LowerContext, Plane, Step, guard_reader
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

    def view(self, plane: Plane) -> np.ndarray[Any, np.dtype[Any]]:
        """Return a NumPy array over the memory of a host plane, whatever library the array is from.

        From then on every launch checks that no plane of the graph has moved.

        Raises
        ------
        BuildError
            The memory is another device's.
        """
        device = plane.memory.device[0]
        if device != "cpu":
            raise BuildError(
                f"it is in {device} memory, which backend 'cpu' cannot reach",
                fix="A copy across devices runs on the backend of the device: build a graph of its own for it.",
                planes=(plane.access.name,),
            )
        self.viewed.append(plane)
        self.keep(plane)
        return host_view(plane.memory)

    def call(self, fn: Callable[[], object], /) -> Step:
        """Run `fn`."""
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
                blueprint.blame(error, len(calls) - 1 - length_hint(ahead))
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


def calls_of(steps: Sequence[Step]) -> list[Callable[[], object]]:
    """Return what to call for each step."""
    calls = []
    for step in steps:
        assert isinstance(step, CpuStep)
        calls.append(step.run)
    return calls
