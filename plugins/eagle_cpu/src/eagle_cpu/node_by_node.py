"""A graph run one node at a time, with a look before and after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from eagle.plugin import Blueprint
from eagle_cpu.context import CpuContext
from eagle_cpu.declared import DeclaredWrites
from eagle_cpu.steps import CpuStep

__all__ = ["check", "profile"]

Work = Callable[[], object]


def profile(blueprint: Blueprint, context: CpuContext, steps: Sequence[CpuStep], n: int) -> list[float]:
    """Run the graph `n` times and return the mean seconds of each node."""
    total = [0] * len(steps)

    def timed(node: int, work: Work) -> None:
        begin = time.perf_counter_ns()
        work()
        total[node] += time.perf_counter_ns() - begin

    _run(blueprint, context, steps, n, timed)
    return [nanoseconds / n * 1e-9 for nanoseconds in total]


def check(blueprint: Blueprint, context: CpuContext, steps: Sequence[CpuStep]) -> str:
    """Run the graph once and raise `PlaneError` if a node wrote what it does not declare."""
    declared = DeclaredWrites(blueprint.nodes)
    _run(blueprint, context, steps, 1, lambda node, work: declared.watch(blueprint.nodes[node], work))
    return declared.verdict()


def _run(
    blueprint: Blueprint,
    context: CpuContext,
    steps: Sequence[CpuStep],
    n: int,
    around: Callable[[int, Work], None],
) -> None:
    """Run the steps in the order of adding, each inside `around`, with the checks of a launch."""
    works = [step.work for step in steps]
    blueprint.recheck()
    context.check_before(blueprint)
    for repetition in range(1, n + 1):
        for node, work in enumerate(works):
            try:
                around(node, work)
            except BaseException as error:
                blueprint.blame(error, node, repetition)
                raise
    context.check_after(blueprint)
