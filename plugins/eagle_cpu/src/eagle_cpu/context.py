"""What lowerings talk to on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from eagle.plugin import (
    Blueprint,
    BuildError,
    Guard,
    LowerContext,
    Memory,
    Placed,
    Plane,
    Step,
    guard_reader,
    host_view,
)
from eagle_cpu.fusion import Fusion, Launched, Reduced
from eagle_cpu.native_run import NativeRun
from eagle_cpu.pieces import Pieces
from eagle_cpu.plane_check import PlaneCheck
from eagle_cpu.steps import CpuStep, NativeStep, checked
from eagle_cpu.team import team_size

__all__ = ["CpuContext"]


class CpuContext(LowerContext):
    """Makes closures, and native steps, which are put together into native calls.

    Parameters
    ----------
    options : mapping
    graph : Blueprint
        What is being built.

    Attributes
    ----------
    watched : bool
        Whether a step touches memory itself, so that every launch checks all planes first.
    """

    backend: ClassVar[str] = "cpu"

    def __init__(self, options: Any, graph: Blueprint) -> None:
        super().__init__(options)
        self.watched = False
        self.fusion = Fusion(fuse=bool(options.get("fuse", True)))
        self._graph = graph
        self._calls_python = False
        self._checks_outputs = os.environ.get("EAGLE_CHECK", "0") not in ("", "0")
        self._checked: set[Placed[Any]] = set()  # the nodes with a check of `after_run`

    def view(self, plane: Plane) -> np.ndarray[Any, np.dtype[Any]]:
        """Return a NumPy array over the memory of a host plane, whatever library the array is from.

        From then on every launch checks that no plane of the graph has moved.

        Raises
        ------
        BuildError
            The memory is another device's.
        """
        return host_view(self.reached(plane))

    def reached(self, plane: Plane) -> Memory:
        """Return the memory of a host plane, for code that touches it: as `view` does, without making an array.

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
        return memory

    def over_memory(self, placed: Placed[Any], work: Callable[[], object]) -> Step:
        """Make a step of work over views of `placed`'s planes.

        A launch has checked the planes before it began. Where Python code runs in the same graph, which can resize an
        array, they are checked again right before the work.
        """
        check = PlaneCheck([placed])

        def run() -> None:
            if self._calls_python:
                check()
            work()

        return CpuStep(run)

    def compiled(self, placed: Placed[Any], work: Callable[[], object]) -> Step:
        """Make a step of work that runs compiled code over `placed`'s planes; ``EAGLE_CHECK=1`` has it checked.

        What `work` leaves must depend on nothing but the planes: a check runs it several times.
        """
        if self._checks_outputs:
            from eagle_cpu.outputs import OutputCheck

            work = OutputCheck(placed, work)
        return self.over_memory(placed, work)

    @property
    def team(self) -> int:
        """How many threads a native step may be spread over."""
        return team_size()

    def native(
        self,
        entry: int,
        args: int,
        /,
        *,
        samples: int = 1,
        grain: int = 1,
        cost_ns: float = 1.0,
        failure: Callable[[], Exception] | None = None,
        forget: Callable[[], object] | None = None,
        source: Launched | Reduced | None = None,
    ) -> Step:
        """Make a step of compiled code; the parameters are those of `NativeStep`.

        Notes
        -----
        Without `failure`, a positive code is raised by a check of `after_run` that looks at what the code left in
        `args`, else it is a `RuntimeError`. Of several nodes that fail in a native call, the first in the order of
        adding is raised, after the repetition has run to its end.
        """
        self.watched = True
        step = NativeStep(
            self._alone,
            self._nesting[-1],
            entry,
            args,
            samples=samples,
            grain=grain,
            cost_ns=cost_ns,
            failure=failure,
            forget=forget,
            source=source,
        )
        return self.compiled(step.placed, step.work) if self._checks_outputs else step

    def after_run(self, check: Callable[[], object], /) -> None:
        """Have `check` called once results are visible, or as soon as the code of its node has failed."""
        self._checked.add(self._nesting[-1])
        super().after_run(check)

    def pieces(self, blueprint: Blueprint, steps: Sequence[CpuStep]) -> Pieces:
        """Put the steps of a graph or a body together, by the rules for the team of this moment."""
        return Pieces(blueprint, steps, self.team, self.fusion, self._raise_recorded)

    def _alone(self, step: NativeStep) -> Callable[[], object]:
        return NativeRun([step], [[[0]]], self._raise_recorded)

    def _raise_recorded(self, step: NativeStep) -> None:
        """Raise what the failed code of a node recorded, if a check of the node's can tell."""
        if step.placed in self._checked:
            self.check_after(self._graph)

    def call(self, fn: Callable[[], object], /) -> Step:
        """Run `fn`."""
        self._calls_python = True
        return CpuStep(fn)

    def sequence(self, blueprint: Blueprint, steps: Sequence[Step], /) -> Step:
        """Run the steps in order; what one raises is blamed on its node."""
        return CpuStep(self.pieces(blueprint, checked(steps)).run)

    def when(self, guard: Guard, then: Step, /) -> Step:
        """Read the guard, then run or not."""
        holds = guard_reader(guard)
        call = checked([then])[0].work

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
        call = checked([body])[0].work

        def run() -> None:
            iterations = 0
            while (going := holds is None or holds()) and iterations != limit:
                call()
                iterations += 1
            if report is not None:
                report(iterations, going)

        return CpuStep(run)
