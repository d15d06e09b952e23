"""A graph built for the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import length_hint

from eagle.plugin import Blueprint, Executable, Step
from eagle_cpu.context import CpuContext
from eagle_cpu.native_run import NativeRun
from eagle_cpu.plane_check import PlaneCheck
from eagle_cpu.steps import checked

__all__ = ["CpuExecutable"]


class CpuExecutable(Executable):
    """Calls one piece after another, on the calling thread; `enqueue` returns when everything has run.

    A graph of native steps alone is one native call, for all repetitions. A graph of Python callables alone checks no
    planes: they look at the arrays themselves.
    """

    def __init__(self, blueprint: Blueprint, context: CpuContext, steps: Sequence[Step]) -> None:
        self._blueprint, self._context = blueprint, context
        self._steps = checked(steps)
        self._pieces = context.pieces(blueprint, self._steps)
        self.schedule = self._pieces.schedule
        calls = self._pieces.calls
        self._only = calls[0] if len(calls) == 1 else None
        self._native = self._only if isinstance(self._only, NativeRun) else None
        self._has_checks = context.has_checks
        self._planes = PlaneCheck(blueprint.nodes) if context.watched and self._native is None else None

    def enqueue(self, n: int, /) -> None:
        """Run the graph `n` times."""
        if self._planes is not None:
            self._planes()
        if self._has_checks:
            self._context.check_before(self._blueprint)
        if self._native is not None:
            try:
                self._native(n)
            except BaseException as error:
                self._pieces.blame(error, 0, self._native.repetition + 1)
                raise
        else:
            self._run_pieces(n)
        if self._has_checks:
            self._context.check_after(self._blueprint)

    def profile(self, n: int, /) -> Sequence[float]:
        """Run the graph `n` times, node by node, and return the mean seconds of each node."""
        from eagle_cpu.node_by_node import profile

        return profile(self._blueprint, self._context, self._steps, n)

    def check(self) -> str:
        """Run the graph once and raise `PlaneError` if a node wrote what it does not declare."""
        from eagle_cpu.node_by_node import check

        return check(self._blueprint, self._context, self._steps)

    def notes(self) -> Sequence[str]:
        """Say what runs fused, tile by tile or side by side, and why not more."""
        labels = [placed.label for placed in self._blueprint.nodes]
        overlaps = [
            "side by side, because nothing orders them: "
            + "; ".join(_named([labels[node] for node in branch]) for branch in stage)
            for stage in self._pieces.overlaps
        ]
        return [*self._context.fusion.notes(), *overlaps]

    def _run_pieces(self, n: int) -> None:
        # Where a loop was when something escaped is read off its iterator: counting would cost more than the loop.
        calls, only = self._pieces.calls, self._only
        repetitions, ahead = repeat(None, n), iter(calls)
        try:
            if only is not None:
                for _ in repetitions:
                    only()
            else:
                for _ in repetitions:
                    ahead = iter(calls)
                    for call in ahead:
                        call()
        except BaseException as error:
            begun = n - length_hint(repetitions)
            at = 0 if only is not None and begun else len(calls) - 1 - length_hint(ahead)
            self._pieces.blame(error, at, begun)
            raise


def _named(labels: Sequence[str]) -> str:
    if len(labels) <= 3:
        return ", ".join(map(repr, labels))
    return f"{labels[0]!r} .. {labels[-1]!r} ({len(labels)} nodes)"
