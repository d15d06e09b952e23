"""Copies in host memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from eagle.plugin import Memory, Placed, Step
from eagle_cpu._native import copy_entry
from eagle_cpu.context import CpuContext

__all__ = ["lower"]

_GRAIN = 64  # elements: threads write no cache line together
_NS_PER_BYTE = 0.1
_NS_PER_ELEMENT = 0.5  # that has no neighbour to be copied with in one go

Axis = tuple[int, int, int]
"""How many elements, and their distance in bytes in the one array and the other."""


def lower(placed: Placed[object], context: CpuContext) -> Step:
    """Copy ``src`` into ``into``, its two planes, byte for byte, any strides. Shape and dtype were compared at add."""
    src, into = map(context.reached, placed.planes)
    axes = _axes(src, into)
    samples, here, there = axes[-1]
    # As words, what eagle/exec/copy.h calls Copy and CopyAxis.
    block = array("q", (src.address, into.address, src.itemsize, len(axes), *axes[0]))
    for axis in axes[1:]:
        block.extend(axis)
    for count, _, _ in axes[:-1]:
        samples *= count
    context.keep(block)
    dense = here == there == src.itemsize
    return context.native(
        copy_entry(),
        block.buffer_info()[0],
        samples=samples,
        grain=_GRAIN,
        cost_ns=_NS_PER_BYTE * max(src.itemsize, 1) + (0.0 if dense else _NS_PER_ELEMENT),
    )


def _axes(src: Memory, into: Memory) -> Sequence[Axis]:
    """Return the axes of both arrays, as few as can be: at least one, the innermost of what is written last."""
    if len(src.shape) == 1:
        return ((src.shape[0], src.strides[0], into.strides[0]),)
    axes = [axis for axis in zip(src.shape, src.strides, into.strides, strict=True) if axis[0] != 1]
    axes.sort(key=lambda axis: -abs(axis[2]))
    merged: list[Axis] = []
    for count, here, there in axes:
        if merged and merged[-1][1] == here * count and merged[-1][2] == there * count:
            merged[-1] = (merged[-1][0] * count, here, there)
        else:
            merged.append((count, here, there))
    return merged or ((1, src.itemsize, src.itemsize),)
