"""Consecutive native steps as one native call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from eagle_cpu.plane_check import PlaneCheck
from eagle_cpu.steps import NativeStep
from eagle_cpu.team import Failed, Interrupted, JobList, Moved

__all__ = ["NativeRun"]


class NativeRun:
    """Runs native steps in one call without the interpreter's lock, after a look at their planes.

    Parameters
    ----------
    steps : sequence of NativeStep
        In the order of their nodes.
    stages : sequence of sequences of sequences of int
        The steps of each branch of each stage, by their place in `steps`; see `JobList`.
    recorded : callable
        ``recorded(step)`` raises what the code of a step without a `failure` of its own recorded, if it can tell.

    Attributes
    ----------
    steps : tuple of NativeStep
    placed : Placed
        The node that the last exception came from.
    repetition : int
        And in which repetition of the call, counted from 0.
    """

    def __init__(
        self,
        steps: Sequence[NativeStep],
        stages: Sequence[Sequence[Sequence[int]]],
        recorded: Callable[[NativeStep], object],
    ) -> None:
        self.steps = tuple(steps)
        self.placed, self.repetition = self.steps[0].placed, 0
        self._recorded = recorded
        self._check = PlaneCheck(dict.fromkeys(member.placed for step in steps for member in step.members))
        self._foreign = self._check.foreign
        self._run = JobList([step.job for step in steps], self._check.native, stages).run
        self._clean = False  # another run of the same steps may have been stopped: by `Graph.profile`, say

    def __call__(self, n: int = 1) -> None:
        """Run all steps `n` times.

        Raises
        ------
        PlaneError
            An array moved; nothing has run.
        Exception
            What the step of the lowest node that failed stands for; all steps of that repetition have run.
        KeyboardInterrupt
            Ctrl-C, or whatever else a signal handler raised; with a note on how far the run got.
        """
        if not self._clean:
            self.placed, self.repetition = self.steps[0].placed, 0
            self._forget()
        for placed in self._foreign:
            placed.recheck()
        self._clean = False
        outcome = self._run(n)
        if outcome is not None:
            try:
                self._raise(outcome)
            finally:  # what was recorded concerns no other run, not even another `NativeRun` of the same steps
                self._forget()
        self._clean = True

    def _raise(self, outcome: Moved | Failed | Interrupted) -> NoReturn:
        if isinstance(outcome, Moved):
            self._check.refuse()
        self.placed, self.repetition = self.steps[outcome.job].placed, outcome.repetition
        if isinstance(outcome, Interrupted):
            members = [member for step in self.steps for member in step.members]
            if len(members) > 1:
                labels = f"{members[0].placed.label!r} .. {members[-1].placed.label!r}"
                outcome.error.add_note(
                    f"stopped inside a native run of the nodes {labels}: samples may stand at different nodes of it"
                )
            raise outcome.error
        step = self._lowest(outcome.job)
        self.placed = step.placed
        raise self._failure(step, outcome.code)

    def _lowest(self, job: int) -> NativeStep:
        """Return the step of the lowest node that failed, when `job` is the first that did.

        Joined steps that run side by side can hold nodes that were added in turns: all that recorded a failure count.
        """
        first = self.steps[job]
        recorded = [one for step in self.steps if (one := step.failed()) is not None]
        return min([first.failed() or first, *recorded], key=lambda one: one.placed.index)

    def _failure(self, step: NativeStep, code: int) -> Exception:
        if step.failure is not None:
            return step.failure()
        self._recorded(step)
        return RuntimeError(f"the native code of node {step.placed.label!r} failed with code {code}")

    def _forget(self) -> None:
        for step in self.steps:
            if step.forget is not None:
                step.forget()
