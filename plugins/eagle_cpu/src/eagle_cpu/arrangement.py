"""Which steps become one native call, and which of them run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eagle.plugin import Blueprint
from eagle_cpu.steps import CpuStep, NativeStep
from eagle_cpu.team import resolve

__all__ = ["Row", "rows", "schedules", "side_by_side"]

Stages = list[list[list[int]]]
"""Stages of branches of nodes."""


@dataclass
class Row:
    """Consecutive nodes of compiled code, which become one native call.

    Attributes
    ----------
    stages : list
        Nodes, by index, of each branch of each stage; stages of several branches run them side by side.
    overlaps : list
        Those of `stages` that are no stage of the graph's, but plain ones that nothing orders.
    """

    stages: Stages = field(default_factory=list)
    overlaps: Stages = field(default_factory=list)


def schedules(blueprint: Blueprint, steps: Sequence[CpuStep], threads: int) -> tuple[str, ...]:
    """Return how each stage runs, by the rule of `eagle_cpu.team.resolve`."""
    return tuple(
        resolve(
            len(stage),
            _samples(steps, [node for branch in stage for node in branch]),
            all(isinstance(steps[node], NativeStep) for branch in stage for node in branch),
            threads,
        )
        for stage in blueprint.stages
    )


def rows(blueprint: Blueprint, steps: Sequence[CpuStep], schedule: Sequence[str], threads: int) -> list[Row | int]:
    """Return the nodes in the order they run: rows of native ones, and every other one by itself."""
    made: list[Row | int] = []
    plain: list[int] = []  # native nodes of plain stages, for the end of the last row

    def last_row() -> Row:
        if not made or not isinstance(made[-1], Row):
            made.append(Row())
        row = made[-1]
        assert isinstance(row, Row)
        return row

    def flush() -> None:
        if plain:
            row = last_row()
            for stage in side_by_side(blueprint, steps, plain, threads):
                row.stages.append(stage)
                if len(stage) > 1:
                    row.overlaps.append(stage)
            plain.clear()

    for stage, word in zip(blueprint.stages, schedule, strict=True):
        if word == "branch_tasks":
            flush()
            last_row().stages.append([list(branch) for branch in stage])
            continue
        for node in (node for branch in stage for node in branch):
            if not isinstance(steps[node], NativeStep):
                flush()
                made.append(node)
            elif len(stage) == 1:
                plain.append(node)
            else:
                flush()
                last_row().stages.append([[node]])
    flush()
    return made


def side_by_side(blueprint: Blueprint, steps: Sequence[CpuStep], nodes: Sequence[int], threads: int) -> Stages:
    """Cut consecutive nodes into stages whose branches nothing orders, each branch a chain that something does.

    A stage grows until a node would join all of its chains to one, or has more samples than the rule allows. What
    comes of it obeys the rule for groups: small nodes, two threads or more, else every node is a stage by itself.
    """
    stages: Stages = []
    chains: dict[int, list[int]] = {}  # by identity
    chain_of: dict[int, list[int]] = {}
    large = _large(steps, nodes, threads)

    def close() -> None:
        if resolve(len(chains), _samples(steps, list(chain_of)), True, threads) == "branch_tasks":
            stages.append(sorted(sorted(chain) for chain in chains.values()))
        else:
            stages.extend([[node]] for node in sorted(chain_of))
        chains.clear()
        chain_of.clear()

    for node in nodes:
        joined = {id(chain_of[other]): chain_of[other] for other in blueprint.before[node] if other in chain_of}
        alone = node in large
        if alone or (len(chains) > 1 and len(joined) == len(chains)):
            close()
            joined = {}
        longest = max(joined.values(), key=len, default=[])
        for key, chain in joined.items():
            if chain is not longest:
                del chains[key]
                longest.extend(chain)
                chain_of.update(dict.fromkeys(chain, longest))
        longest.append(node)
        chain_of[node] = longest
        chains[id(longest)] = longest
        if alone:
            close()
    close()
    return stages


def _large(steps: Sequence[CpuStep], nodes: Sequence[int], threads: int) -> set[int]:
    """Return the nodes with more samples than the rule for groups allows, or all if there is one thread."""
    found = {node: _samples(steps, [node]) for node in nodes}
    words = {samples: resolve(2, samples, True, threads) for samples in set(found.values())}  # few sizes, many nodes
    return {node for node, samples in found.items() if words[samples] != "branch_tasks"}


def _samples(steps: Sequence[CpuStep], nodes: Sequence[int]) -> int:
    return max((step.samples for node in nodes if isinstance(step := steps[node], NativeStep)), default=0)
