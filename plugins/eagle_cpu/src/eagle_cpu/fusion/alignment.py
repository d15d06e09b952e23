"""Whether nodes line up sample for sample: then each sample can go through all of them before the next one starts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm, prod

from eagle.plugin import Memory, Plane
from eagle_cpu.cost import cost_in_registers
from eagle_cpu.fusion.launched import Launched
from eagle_cpu.host_memory import overlap, span
from eagle_cpu.steps import NativeStep

__all__ = ["MOST_BYTES", "Alignment", "Layout", "rows", "touched"]

MOST_BYTES = 1024
"""Bytes of a sample that nodes which run together may touch: a tile of a few hundred samples stays in the cache."""

_FEW_CUTS = 8
_FEW_PAIRS = 256
"""Of rows that are compared by their numbers; planes with more of them are compared as memory of any shape."""
_WORTH_SHARING_NS = 40_000.0
"""Work from which on a second thread is woken."""

Layout = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Address, shape, strides and item size: planes alike in these are the same elements in the same places."""


@dataclass(slots=True, eq=False)
class Touched:
    """A plane as a node touches it, or as all of the nodes do that have it.

    Attributes
    ----------
    step : NativeStep
    plane : Plane
    layout : Layout
    axis : int or None
        Where the samples are counted.
    written : bool
    span : tuple of int
        The first address, and one past the last byte; looked at for planes that are new.
    """

    step: NativeStep
    plane: Plane
    layout: Layout
    axis: int | None
    written: bool
    span: tuple[int, int] = (0, 0)

    @property
    def memory(self) -> Memory:
        """Where it is."""
        return self.plane.memory

    @property
    def bytes(self) -> int:
        """That one sample takes; none of a plane without samples."""
        if self.axis is None:
            return 0
        memory = self.plane.memory
        return memory.itemsize * (prod(memory.shape) // max(self.step.samples, 1) if len(memory.shape) > 1 else 1)

    def __str__(self) -> str:
        return f"{self.plane.access.name!r} of {self.step.placed.label!r}"


@dataclass(slots=True)
class Alignment:
    """The planes of nodes that line up, and whether another node does.

    Two nodes do when they touch nothing but their planes, have equally many samples, and every two of their planes that
    share a byte, one of them written, are the same elements in the same places, or have some rows in common, sample i
    at index i of one axis.

    Attributes
    ----------
    steps : list of NativeStep
    bytes : int
        That one sample takes in all planes together, tables apart.
    grain : int
        What the range of samples can be cut at multiples of.
    cost_ns : float
        Of one sample.
    open_ended : str or None
        A node that may touch more than its planes.
    """

    steps: list[NativeStep] = field(default_factory=list)
    bytes: int = 0
    grain: int = 1
    cost_ns: float = 0.0
    open_ended: str | None = None
    _planes: dict[Layout, Touched] = field(default_factory=dict)
    _by_start: list[Touched] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _longest: int = 0

    def admit(self, step: NativeStep) -> str | None:
        """Take in a node and return None when it lines up with those here, else return why it does not."""
        planes, more = touched(step), 0
        for plane in planes:
            if plane.layout not in self._planes:
                plane.span = span(plane.plane.memory)
                more += plane.bytes  # under each of its names
        if self.steps and (why := self._obstacle(step, planes, more)) is not None:
            return why
        self.bytes += more
        if not step.placed.complete_access:
            self.open_ended = step.placed.label
        if step.grain != self.grain:
            self.grain = lcm(self.grain, step.grain)
        self.cost_ns += _cost(step)
        for plane in planes:
            self._take(plane)
        self.steps.append(step)
        return None

    def _obstacle(self, step: NativeStep, planes: Sequence[Touched], more: int) -> str | None:
        open_ended = self.open_ended if step.placed.complete_access else step.placed.label
        if open_ended is not None:
            return f"{open_ended!r} may touch more than its planes: its kind does not promise complete_access"
        samples = self.steps[0].samples
        if step.samples != samples:
            return f"{step.placed.label!r} has {step.samples} samples, and the nodes before it have {samples}"
        for plane in planes:
            against = self._against(plane)
            if against is not None:
                return f"plane {plane} and {against} share memory, but not sample for sample"
        if self._planes and self.bytes + more > MOST_BYTES:
            return f"with {step.placed.label!r} a sample would take more than {MOST_BYTES} bytes"
        return self._uneven(step)

    def _take(self, plane: Touched) -> None:
        known = self._planes.setdefault(plane.layout, plane)
        if known is not plane:
            known.written |= plane.written
            known.axis = plane.axis if known.axis == plane.axis else None
            return
        low, high = plane.span
        place = bisect_left(self._starts, low)
        self._starts.insert(place, low)
        self._by_start.insert(place, plane)
        if high - low > self._longest:
            self._longest = high - low

    def _uneven(self, step: NativeStep) -> str | None:
        """Return why threads would have nothing to do that the node or those here alone could be spread over."""
        if step.grain == self.grain:
            return None
        grain, samples = lcm(self.grain, step.grain), step.samples
        work = samples * (self.cost_ns + _cost(step))
        if grain == min(self.grain, step.grain) or samples >= _FEW_CUTS * grain or work < _WORTH_SHARING_NS:
            return None
        return f"with {step.placed.label!r} threads could take samples only in steps of {grain}: most would have none"

    def _against(self, plane: Touched) -> Touched | None:
        """Return the plane here that a plane of another node shares memory with and does not line up with."""
        known = self._planes.get(plane.layout)
        if known is not None:
            if (plane.written or known.written) and (plane.axis is None or known.axis != plane.axis):
                return known
            if known.written or not plane.written:
                return None  # compared with the others when it came
        low, high = (plane if known is None else known).span
        place = bisect_left(self._starts, high)
        while place and self._starts[place - 1] > low - self._longest:
            place -= 1
            other = self._by_start[place]
            near = low < other.span[1] and other is not known
            if near and (plane.written or other.written) and _mixed(plane, other):
                return other
        return None


def touched(step: NativeStep) -> list[Touched]:
    """Return the planes of a node."""
    found = []
    for plane in step.placed.planes:
        memory, axis = plane.memory, plane.access.axis
        if axis is not None and memory.shape[axis] != step.samples:
            axis = None
        layout = (memory.address, memory.shape, memory.strides, memory.itemsize)
        found.append(Touched(step, plane, layout, axis, plane.access.mode != "r"))
    return found


def _mixed(a: Touched, b: Touched) -> bool:
    """Whether a sample of one of two planes shares a byte with another sample of the other, or a part of an element."""
    if a.axis is None or b.axis is None:
        return overlap(a.memory, b.memory)
    stride, count = a.memory.strides[a.axis], a.memory.shape[a.axis]
    ours, theirs = rows(a.memory, a.axis), rows(b.memory, b.axis)
    if stride != b.memory.strides[b.axis] or len(ours) * len(theirs) > _FEW_PAIRS:
        return overlap(a.memory, b.memory)
    sizes = a.memory.itemsize, b.memory.itemsize
    return any(_rows_mixed(other - one, abs(stride), count, *sizes) for one in ours for other in theirs)


def _rows_mixed(distance: int, stride: int, count: int, size: int, other_size: int) -> bool:
    """Whether elements of two rows share bytes, unless these are the same elements, sample for sample.

    Parameters
    ----------
    distance : int
        Bytes from the first row to the other.
    stride : int
        Of both, 0 or more.
    count : int
    size, other_size : int
        Bytes of an element of each.
    """
    if distance == 0 and size == other_size and (count == 1 or size <= stride):
        return False
    # Elements i and j share a byte when distance + (j - i) * stride lies between these two, which themselves do not.
    low, high = -other_size, size
    if stride == 0:
        return low < distance < high
    first = max((low - distance) // stride + 1, 1 - count)
    last = min(-((distance - high) // stride) - 1, count - 1)
    return first <= last


def rows(memory: Memory, axis: int) -> list[int]:
    """Return the address of sample 0 in each row of a plane, which has its samples along `axis`."""
    found = [memory.address]
    for number, (count, stride) in enumerate(zip(memory.shape, memory.strides, strict=True)):
        if number != axis:
            found = [address + index * stride for address in found for index in range(count)]
    return found


def _cost(step: NativeStep) -> float:
    return cost_in_registers(step.source.kernel) if isinstance(step.source, Launched) else step.cost_ns
