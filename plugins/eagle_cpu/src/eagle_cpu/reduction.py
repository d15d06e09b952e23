"""Reductions in the documented order, so that the bits depend on nothing but the values."""

from __future__ import annotations

from typing import Any

from eagle.plugin import Memory, Placed, Step
from eagle_cpu._native import REDUCTION_BLOCK, Reduction
from eagle_cpu.context import CpuContext
from eagle_cpu.fusion import Reduced

__all__ = ["lower"]

_LINE = 64  # bytes
_NS_PER_BYTE = 0.025  # of memory that is near
_NS_PER_GATHERED = 0.3  # what an element adds that has no neighbour in a vector


def lower(placed: Placed[Any], context: CpuContext) -> Step:
    """Reduce ``x`` into ``out``: blocks on any thread, folded by the one that does the last of them.

    A sum takes elements in logical order, in blocks of 4096. In a block, lane ``l`` of 64 adds elements ``l``,
    ``l + 64``, ``l + 128``, ... in that order; the lanes fold by halves, lane ``l`` adding lane ``l + h`` for ``h`` =
    32, 16, 8, 4, 2, 1 where that exists. The blocks' results, in order, are summed by the same rule until one is left.
    float32 is added in float64 and rounded once; integers wrap; the empty sum is +0. The other operations give the same
    bits in any order.
    """
    payload = placed.node.payload
    payload.refuse_empty(placed)
    planes = {plane.access.name: plane for plane in placed.planes}
    x, out = context.reached(planes["x"]), context.reached(planes["out"])
    (count,), (stride,) = x.shape, x.strides
    reduction = Reduction(payload.op, x.dtype, x.address, stride, count, out.address)
    context.keep(reduction)
    source = None
    if stride == x.itemsize:
        source = Reduced(op=payload.op, x=context.view(planes["x"]), state=reduction.args, take=reduction.take)
    return context.native(
        reduction.entry,
        reduction.args,
        samples=max(count, 1),
        grain=REDUCTION_BLOCK,
        cost_ns=_cost_of(x),
        forget=reduction.reset,
        source=source,
    )


def _cost_of(x: Memory) -> float:
    """Guess the nanoseconds one element takes."""
    stride = abs(x.strides[0])
    if x.strides[0] == x.itemsize:
        return _NS_PER_BYTE * x.itemsize
    return _NS_PER_GATHERED + _NS_PER_BYTE * min(stride, _LINE)
