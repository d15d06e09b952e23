"""What runs for a tile: a node by itself, or several kernels and reductions as one."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TypeAlias

from eagle.plugin import Kernel
from eagle_cpu.cost import cost_in_registers
from eagle_cpu.engine import program_for
from eagle_cpu.fusion.alignment import rows
from eagle_cpu.fusion.chaining import chained
from eagle_cpu.fusion.cutting import cut
from eagle_cpu.fusion.launched import Launched, Reduced
from eagle_cpu.steps import NativeStep
from eagle_ir import Function, Gather
from eagle_ir.walking import faulting, instructions

__all__ = ["Fused", "Piece", "PieceMaker", "obstacle_of"]

LARGEST = 256
"""Instructions of a piece: the time to compile one grows with them, and what a larger one would gain does not."""
COMPILED = 8 * LARGEST
"""Instructions that one graph may have compiled for it; what is beyond runs tile by tile only."""

_THROUGH_MEMORY_NS = 0.1
"""What a fused kernel takes for a sample before it computes anything."""
_REDUCED_NS = 0.03
"""What a reduction takes for an element that is in a register."""
_REDUCTION_SIZE = 4
"""Instructions, roughly, that a reduction adds to a piece."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fused:
    """Compiled code that does the work of several nodes.

    Attributes
    ----------
    members : tuple of NativeStep
    entry, args, grain : int
    cost_ns : float
    keep : object
        What has to stay alive.
    """

    members: tuple[NativeStep, ...]
    entry: int
    args: int
    grain: int
    cost_ns: float
    keep: object


Piece: TypeAlias = "NativeStep | Fused"
"""What is called for a tile: a node by itself has all that this takes."""


class PieceMaker:
    """Makes the pieces of one graph, within what may be compiled for it."""

    def __init__(self) -> None:
        self._left = COMPILED
        self._known: set[str] = set()

    def of(self, run: Sequence[NativeStep]) -> Iterator[Piece]:
        """Yield the pieces of nodes that line up."""
        for fits, group in _fusable(run):
            if not fits or len(group) == 1:
                yield from group
                continue
            begin = 0
            kinds, sizes = [_kind(member) for member in group], [_size(member) for member in group]
            for count in cut(kinds, sizes, LARGEST):
                yield from self._fused(group[begin : begin + count], sum(sizes[begin : begin + count]))
                begin += count

    def _fused(self, members: Sequence[NativeStep], size: int) -> Iterator[Piece]:
        if len(members) == 1 or not any(isinstance(member.source, Launched) for member in members):
            yield from members
            return
        kernel, arrays, params = chained(members)
        if kernel.fingerprint not in self._known:
            if size > self._left:
                yield from members
                return
            self._known.add(kernel.fingerprint)
            self._left -= size
        program = program_for(kernel)
        arguments = program.arguments(arrays, params, members[0].samples)
        reductions = [member.grain for member in members if isinstance(member.source, Reduced)]
        yield Fused(
            members=tuple(members),
            entry=program.launch_entry,
            args=arguments.address,
            grain=lcm(program.grain, *reductions),
            cost_ns=_THROUGH_MEMORY_NS + sum(map(_cost_in_registers, members)),
            keep=arguments,
        )


def _fusable(run: Sequence[NativeStep]) -> Iterator[tuple[bool, list[NativeStep]]]:
    """Cut a run where nodes that may be fused begin and end; say for each part whether it holds such."""
    part: list[NativeStep] = []
    fusable = False
    dtypes: dict[int, str] = {}
    for member in run:
        fits = obstacle_of(member) is None
        theirs = dict(_dtypes(member)) if fits else {}
        if part and (fits != fusable or any(dtypes.get(row, dtype) != dtype for row, dtype in theirs.items())):
            yield fusable, part
            part, dtypes = [], {}
        fusable = fits
        part.append(member)
        dtypes.update(theirs)
    if part:
        yield fusable, part


def _dtypes(member: NativeStep) -> Iterator[tuple[int, str]]:
    """Yield what a node takes its rows for: bytes may be viewed as other numbers."""
    for plane in member.placed.planes:
        if plane.access.axis is not None:
            for row in rows(plane.memory, plane.access.axis):
                yield row, plane.memory.dtype


def obstacle_of(step: NativeStep) -> str | None:
    """Return why a step cannot be part of a fused kernel, or None when it can."""
    label = step.placed.label
    if isinstance(step.source, Reduced):
        return None
    if step.source is None:
        if step.placed.node.kind == "reduce":
            return f"the elements that {label!r} reduces do not lie one behind the other"
        return f"{label!r} is no kernel"
    return f"{label!r} can fail for a sample ({why})" if (why := _fault_of(step.source.kernel)) is not None else None


@functools.lru_cache(maxsize=1024)
def _fault_of(kernel: Kernel) -> str | None:
    """Return what in a kernel can fault, or None. A sample that faults leaves its kernel and goes on with the next."""
    assert isinstance(kernel.code, Function)
    found = next(iter(faulting(kernel.code.body)), None)
    if found is None:
        return None
    if isinstance(found, Gather):
        return f"it looks up table {found.argument!r}"
    return "it turns a float into an integer" if found.op == "convert" else "it divides integers"


def _kind(member: NativeStep) -> Hashable:
    """Return what stands for the code of a node that can be fused."""
    if isinstance(member.source, Launched):
        return member.source.kernel.fingerprint
    assert member.source is not None
    return member.source.op, member.source.x.dtype


def _size(member: NativeStep) -> int:
    return _size_of(member.source.kernel) if isinstance(member.source, Launched) else _REDUCTION_SIZE


@functools.lru_cache(maxsize=1024)
def _size_of(kernel: Kernel) -> int:
    assert isinstance(kernel.code, Function)
    return sum(1 for _ in instructions(kernel.code.body))


def _cost_in_registers(member: NativeStep) -> float:
    return cost_in_registers(member.source.kernel) if isinstance(member.source, Launched) else _REDUCED_NS
