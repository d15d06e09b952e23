"""Whether nodes line up sample for sample: then each sample can go through all of them before the next one starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm, prod

from eagle.access import footprint, overlap
from eagle.access.footprint import Footprint
from eagle.plugin import Memory, Plane
from eagle_cpu.cost import cost_in_registers
from eagle_cpu.steps import NativeStep

__all__ = ["MOST_BYTES", "Alignment", "Layout", "layout_of"]

MOST_BYTES = 1024
"""Bytes of a sample that nodes which run together may touch: a tile of a few hundred samples stays in the cache."""

_FEW_CUTS = 8
_WORTH_SHARING_NS = 40_000.0
"""Work from which on a second thread is woken."""

Layout = tuple[int, tuple[int, ...], tuple[int, ...], int]
"""Address, shape, strides and item size: planes alike in these are the same elements in the same places."""


def layout_of(memory: Memory) -> Layout:
    """Return where each element of a plane is."""
    return memory.address, memory.shape, memory.strides, memory.itemsize


@dataclass(slots=True)
class _Touched:
    label: str
    name: str
    footprint: Footprint
    axis: int | None
    written: bool


@dataclass(slots=True)
class Alignment:
    """The planes of nodes that line up, and whether another node does.

    Two nodes do when they touch nothing but their planes, have equally many samples, and every two of their planes that
    share a byte, one of them written, are the same elements in the same places, sample i at index i of one axis.

    Attributes
    ----------
    samples : int
    bytes : int
        That one sample takes in all planes together, tables apart.
    grain : int
        What the range of samples can be cut at multiples of.
    cost_ns : float
        Of one sample.
    open_ended : str or None
        A node that may touch more than its planes.
    """

    samples: int
    bytes: int = 0
    grain: int = 1
    cost_ns: float = 0.0
    open_ended: str | None = None
    _planes: dict[Layout, _Touched] = field(default_factory=dict)

    def obstacle(self, step: NativeStep) -> str | None:
        """Return None when a node lines up with those here, else why it does not."""
        more = self.open_ended if step.placed.complete_access else step.placed.label
        if more is not None:
            return f"{more!r} may touch more than its planes: its kind does not promise complete_access"
        if step.samples != self.samples:
            return f"{step.placed.label!r} has {step.samples} samples, and the nodes before it have {self.samples}"
        for plane in step.placed.planes:
            against = self._against(plane)
            if against is not None:
                where = f"plane {plane.access.name!r} of {step.placed.label!r}"
                return f"{where} and {against.name!r} of {against.label!r} share memory, but not sample for sample"
        if self._planes and self.bytes + self._more(step) > MOST_BYTES:
            return f"with {step.placed.label!r} a sample would take more than {MOST_BYTES} bytes"
        return self._uneven(step)

    def take(self, step: NativeStep) -> None:
        """Add the planes of a node."""
        self.bytes += self._more(step)
        self.open_ended = self.open_ended if step.placed.complete_access else step.placed.label
        self.grain, self.cost_ns = lcm(self.grain, step.grain), self.cost_ns + _cost(step)
        for plane in step.placed.planes:
            layout, axis = layout_of(plane.memory), self._axis(plane)
            known = self._planes.get(layout)
            if known is None:
                name, written = plane.access.name, plane.access.mode != "r"
                self._planes[layout] = _Touched(step.placed.label, name, footprint(plane.memory), axis, written)
            else:
                known.written |= plane.access.mode != "r"
                known.axis = axis if known.axis == axis else None

    def _uneven(self, step: NativeStep) -> str | None:
        """Return why threads would have nothing to do that the node or those here alone could be spread over."""
        grain, work = lcm(self.grain, step.grain), self.samples * (self.cost_ns + _cost(step))
        if grain == min(self.grain, step.grain) or self.samples >= _FEW_CUTS * grain or work < _WORTH_SHARING_NS:
            return None
        return f"with {step.placed.label!r} samples could be spread over threads only by the {grain}"

    def _against(self, plane: Plane) -> _Touched | None:
        """Return the plane here that a plane of another node shares memory with and does not line up with."""
        layout, writes, axis = layout_of(plane.memory), plane.access.mode != "r", self._axis(plane)
        known = self._planes.get(layout)
        if known is not None:
            if (writes or known.written) and (axis is None or known.axis != axis):
                return known
            if known.written or not writes:
                return None  # compared with the others when it came
        mine = footprint(plane.memory)
        low, high = mine.low, mine.high
        for other, touched in self._planes.items():
            near = low < touched.footprint.high and touched.footprint.low < high  # most are not, and asked for at once
            if near and (writes or touched.written) and other != layout and overlap(mine, touched.footprint):
                return touched
        return None

    def _axis(self, plane: Plane) -> int | None:
        axis = plane.access.axis
        return axis if axis is not None and plane.memory.shape[axis] == self.samples else None

    def _more(self, step: NativeStep) -> int:
        """Return the bytes of a sample of a node in planes that are not here yet."""
        new = {layout_of(plane.memory): plane for plane in step.placed.planes if self._axis(plane) is not None}
        return sum(
            plane.memory.itemsize * prod(plane.memory.shape) // max(self.samples, 1)
            for layout, plane in new.items()
            if layout not in self._planes
        )


def _cost(step: NativeStep) -> float:
    return step.cost_ns if step.launched is None else cost_in_registers(step.launched.kernel)
