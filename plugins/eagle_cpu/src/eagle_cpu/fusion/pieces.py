"""What runs for a tile: a node by itself, or several kernels as one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import Kernel
from eagle_cpu.cost import cost_in_registers
from eagle_cpu.engine import program_for
from eagle_cpu.engine.chain import chain_kernel, param_name, plane_name
from eagle_cpu.fusion.alignment import Layout, layout_of
from eagle_cpu.fusion.cutting import cut
from eagle_cpu.fusion.launched import Launched
from eagle_cpu.steps import NativeStep
from eagle_ir import Function, Gather
from eagle_ir.walking import faulting, instructions

__all__ = ["Piece", "PieceMaker", "obstacle_of"]

LARGEST = 256
"""Instructions of a piece: the time to compile one grows with them, and what a larger one would gain does not."""
COMPILED = 8 * LARGEST
"""Instructions that one graph may have compiled for it; what is beyond runs tile by tile only."""

_THROUGH_MEMORY_NS = 0.1
"""What a fused kernel takes for a sample before it computes anything."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Piece:
    """Compiled code that does the work of one node or more.

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
    keep: object = None


class PieceMaker:
    """Makes the pieces of one graph, within what may be compiled for it."""

    def __init__(self) -> None:
        self._left = COMPILED
        self._known: set[str] = set()

    def of(self, run: Sequence[NativeStep]) -> Iterator[Piece]:
        """Yield the pieces of nodes that line up."""
        for kernels, group in _fusable(run):
            if not kernels or len(group) == 1:
                yield from map(_alone, group)
                continue
            begin = 0
            kinds = [_launched(member).kernel.fingerprint for member in group]
            sizes = [_size(_launched(member).kernel) for member in group]
            for count in cut(kinds, sizes, LARGEST):
                yield from self._fused(group[begin : begin + count], sum(sizes[begin : begin + count]))
                begin += count

    def _fused(self, members: Sequence[NativeStep], size: int) -> Iterator[Piece]:
        if len(members) == 1:
            yield _alone(members[0])
            return
        kernel, arrays, params = _chained([_launched(member) for member in members], members)
        if kernel.fingerprint not in self._known:
            if size > self._left:
                yield from map(_alone, members)
                return
            self._known.add(kernel.fingerprint)
            self._left -= size
        program = program_for(kernel)
        arguments = program.arguments(arrays, params, members[0].samples)
        yield Piece(
            members=tuple(members),
            entry=program.launch_entry,
            args=arguments.address,
            grain=program.grain,
            cost_ns=_THROUGH_MEMORY_NS + sum(cost_in_registers(_launched(member).kernel) for member in members),
            keep=arguments,
        )


def _alone(member: NativeStep) -> Piece:
    return Piece(members=(member,), entry=member.entry, args=member.args, grain=member.grain, cost_ns=member.cost_ns)


def _fusable(run: Sequence[NativeStep]) -> Iterator[tuple[bool, list[NativeStep]]]:
    """Cut a run where kernels that may be fused begin and end; say for each part whether it holds such."""
    part: list[NativeStep] = []
    kernels = False
    dtypes: dict[Layout, str] = {}
    for member in run:
        fits = obstacle_of(member) is None
        if part and (fits != kernels or (fits and not _same_dtypes(member, dtypes))):
            yield kernels, part
            part, dtypes = [], {}
        kernels = fits
        part.append(member)
        if fits:
            dtypes.update((layout_of(plane.memory), plane.memory.dtype) for plane in member.placed.planes)
    if part:
        yield kernels, part


def _same_dtypes(member: NativeStep, dtypes: dict[Layout, str]) -> bool:
    """Whether a node takes the planes it shares for what those before it do: bytes may be viewed as other numbers."""
    return all(
        dtypes.get(layout_of(plane.memory), plane.memory.dtype) == plane.memory.dtype for plane in member.placed.planes
    )


def obstacle_of(step: NativeStep) -> str | None:
    """Return why a step cannot be part of a fused kernel, or None when it can."""
    label = step.placed.label
    if step.launched is None:
        return f"{label!r} is no kernel"
    return f"{label!r} can fail for a sample ({why})" if (why := _fault_of(step.launched.kernel)) is not None else None


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


@functools.lru_cache(maxsize=1024)
def _size(kernel: Kernel) -> int:
    assert isinstance(kernel.code, Function)
    return sum(1 for _ in instructions(kernel.code.body))


def _launched(member: NativeStep) -> Launched:
    assert member.launched is not None
    return member.launched


def _chained(
    launched: Sequence[Launched], members: Sequence[NativeStep]
) -> tuple[Kernel, dict[str, np.ndarray[Any, Any]], dict[str, float | int | bool]]:
    """Return the kernel that several are together, and what it is launched with."""
    slots: dict[Layout, int] = {}
    parts: list[tuple[Kernel, dict[str, int]]] = []
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    params: dict[str, float | int | bool] = {}
    for number, (one, member) in enumerate(zip(launched, members, strict=True)):
        named = {}
        tables = {argument.name for argument in one.kernel.arguments if argument.role == "table"}
        for plane in (plane for plane in member.placed.planes if plane.access.name not in tables):
            slot = slots.setdefault(layout_of(plane.memory), len(slots))
            named[plane.access.name] = slot
            arrays.setdefault(plane_name(slot), one.arrays[plane.access.name])
        parts.append((one.kernel, named))
        params.update((param_name(number, name), value) for name, value in one.params.items())
    return chain_kernel(parts), arrays, params
