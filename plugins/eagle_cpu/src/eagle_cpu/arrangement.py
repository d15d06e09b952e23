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
    words: dict[tuple[int, int, bool], str] = {}  # few cases, many stages
    found = []
    for stage in blueprint.stages:
        nodes = stage[0] if len(stage) == 1 else [node for branch in stage for node in branch]
        native = [step.samples for node in nodes if isinstance(step := steps[node], NativeStep)]
        case = len(stage), max(native) if native else 0, len(native) == len(nodes)
        word = words.get(case)
        if word is None:
            word = words[case] = resolve(*case, threads)
        found.append(word)
    return tuple(found)


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
        if len(stage) == 1 and all(isinstance(steps[node], NativeStep) for node in stage[0]):
            plain += stage[0]
            continue
        flush()
        for node in [node for branch in stage for node in branch]:
            if isinstance(steps[node], NativeStep):
                last_row().stages.append([[node]])
            else:
                made.append(node)
    flush()
    return made


def side_by_side(blueprint: Blueprint, steps: Sequence[CpuStep], nodes: Sequence[int], threads: int) -> Stages:
    """Cut consecutive nodes into stages whose branches nothing orders, each branch a chain that something does.

    A stage grows until a node would join all of its chains to one, or has more samples than the rule allows. What
    comes of it obeys the rule for groups: small nodes, two threads or more, else they are one branch, in order.
    """
    stages: Stages = []
    chains: dict[int, list[int]] = {}  # by identity
    chain_of: dict[int, list[int]] = {}
    large = _large(steps, nodes, threads)

    def close() -> None:
        if resolve(len(chains), _samples(steps, list(chain_of)), True, threads) == "branch_tasks":
            stages.append(sorted(sorted(chain) for chain in chains.values()))
        elif chain_of:
            stages.append([sorted(chain_of)])
        chains.clear()
        chain_of.clear()

    for node in nodes:
        joined = {id(chain): chain for other in blueprint.before[node] if (chain := chain_of.get(other)) is not None}
        alone = node in large
        if alone or (len(chains) > 1 and len(joined) == len(chains)):
            close()
            joined = {}
        longest = max(joined.values(), key=len) if joined else []
        if len(joined) > 1:
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
    found = {node: step.samples for node in nodes if isinstance(step := steps[node], NativeStep)}
    words = {samples: resolve(2, samples, True, threads) for samples in set(found.values())}  # few sizes, many nodes
    return {node for node, samples in found.items() if words[samples] != "branch_tasks"}


def _samples(steps: Sequence[CpuStep], nodes: Sequence[int]) -> int:
    return max([step.samples for node in nodes if isinstance(step := steps[node], NativeStep)], default=0)
