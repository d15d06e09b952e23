"""A graph built for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import length_hint

from eagle.plugin import Blueprint, Executable, Step
from eagle_cpu.context import CpuContext, blame, calls_of

__all__ = ["CpuExecutable"]


class CpuExecutable(Executable):
    """Calls one step after another, on the calling thread; `enqueue` returns when everything has run.

    A graph of Python callables alone checks no planes: they look at the arrays themselves.
    """

    def __init__(self, blueprint: Blueprint, context: CpuContext, steps: Sequence[Step]) -> None:
        self.schedule = ("work_share",) * len(blueprint.stages)
        self._blueprint = blueprint
        self._context = context
        self._calls = calls_of(steps)
        self._only: Callable[[], object] | None = self._calls[0] if len(self._calls) == 1 else None
        self._watched = context.watched or context.has_checks

    def enqueue(self, n: int, /) -> None:
        """Run the graph `n` times."""
        if self._watched:
            self._check()
        call = self._only
        if call is None:
            self._run_all(n)
        else:
            # Where a loop was when something escaped is read off its iterator: counting would cost more than the loop.
            ahead = repeat(None, n)
            try:
                for _ in ahead:
                    call()
            except BaseException as error:
                blame(self._blueprint, error, 0 if length_hint(ahead) < n else -1, n - length_hint(ahead))
                raise
        if self._watched:
            self._context.check_after(self._blueprint)

    def _run_all(self, n: int) -> None:
        calls = self._calls
        repetitions, ahead = repeat(None, n), iter(calls)
        try:
            for _ in repetitions:
                ahead = iter(calls)
                for call in ahead:
                    call()
        except BaseException as error:
            index = len(calls) - 1 - length_hint(ahead)
            blame(self._blueprint, error, index, n - length_hint(repetitions))
            raise

    def _check(self) -> None:
        if self._context.watched:
            self._blueprint.recheck()
        self._context.check_before(self._blueprint)
