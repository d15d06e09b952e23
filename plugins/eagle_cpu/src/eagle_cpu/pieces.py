"""The steps of a graph or a body as what is called one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import length_hint

from eagle.plugin import Blueprint
from eagle_cpu.arrangement import Row, rows, schedules
from eagle_cpu.fusion import Fusion
from eagle_cpu.native_run import NativeRun
from eagle_cpu.steps import CpuStep, NativeStep

__all__ = ["Pieces"]


class Pieces:
    """Python steps one by one, and as few native calls as they leave of the others.

    Attributes
    ----------
    schedule : tuple of str
        How each stage runs.
    calls : list of callable
    overlaps : list
        Plain stages that run side by side: branches of nodes.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        steps: Sequence[CpuStep],
        threads: int,
        fusion: Fusion,
        recorded: Callable[[NativeStep], object],
    ) -> None:
        self._blueprint = blueprint
        self.schedule = schedules(blueprint, steps, threads)
        self.calls: list[Callable[[], object]] = []
        self.overlaps: list[list[list[int]]] = []
        self._nodes: list[int] = []  # of each call, unless it is a run of several
        for row in rows(blueprint, steps, self.schedule, threads):
            if isinstance(row, Row):
                self.calls.append(_native_run(row, steps, fusion, recorded))
                self.overlaps += row.overlaps
                self._nodes.append(-1)
            else:
                self.calls.append(steps[row].work)
                self._nodes.append(row)

    def run(self) -> None:
        """Call all once; what one raises is blamed on its node."""
        ahead = iter(self.calls)
        try:
            for call in ahead:
                call()
        except BaseException as error:
            self.blame(error, len(self.calls) - 1 - length_hint(ahead))
            raise

    def blame(self, error: BaseException, call: int, repetition: int | None = None) -> None:
        """Blame `error` on the node that the call of this number was at, unless it came before the first one began."""
        if call < 0:
            return
        node, run = self._nodes[call], self.calls[call]
        if isinstance(run, NativeRun):
            node = run.placed.index
            run.placed = run.steps[0].placed
        self._blueprint.blame(error, node, repetition)


def _native_run(
    row: Row, steps: Sequence[CpuStep], fusion: Fusion, recorded: Callable[[NativeStep], object]
) -> NativeRun:
    joined: list[list[list[NativeStep]]] = []
    plain: list[NativeStep] = []

    def flush() -> None:
        joined.extend([[step]] for step in fusion.join(plain))
        plain.clear()

    for stage in row.stages:
        branches = [[step for node in branch if isinstance(step := steps[node], NativeStep)] for branch in stage]
        if len(branches) == 1:
            plain += branches[0]
        else:
            flush()
            beside = any(len(branch) > 1 for branch in branches)
            joined.append([fusion.join(branch, beside=beside) for branch in branches])
    flush()
    jobs = sorted((step for stage in joined for branch in stage for step in branch), key=lambda one: one.placed.index)
    place = {id(step): number for number, step in enumerate(jobs)}
    return NativeRun(jobs, [[[place[id(step)] for step in branch] for branch in stage] for stage in joined], recorded)
