"""Reductions on the device, in the documented order."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from eagle.graph.payloads import Reduce
from eagle.plugin import Memory, Placed, Step
from eagle_cuda.context import CudaContext
from eagle_cuda.driver import call
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.halting import unless_halted
from eagle_cuda.modules import function

__all__ = ["lower"]

# As in kernels/reductions.cu.
_BLOCK = 4096
_LANES = 64


def lower(placed: Placed[Reduce], context: CudaContext) -> Step:
    """Reduce ``x`` into ``out``: a kernel makes one value of each block, and kernels follow until one is left."""
    placed.node.payload.refuse_empty(placed)
    op = placed.node.payload.op
    planes = {plane.access.name: plane.memory for plane in placed.planes}

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        return [_reduce(builder, op, planes["x"], planes["out"], after)]

    return context.built(unless_halted(context, build))


def _reduce(builder: GraphBuilder, op: str, x: Memory, out: Memory, after: Sequence[int]) -> int:
    between = "float64" if op == "sum" and x.dtype == "float32" else x.dtype
    size = 8 if between == "float64" else x.itemsize
    address, stride, count, dtype = x.address, x.strides[0], x.shape[0], x.dtype
    while count > _BLOCK:
        blocks = -(-count // _BLOCK)
        partial = call("cuMemAlloc", blocks * size)
        builder.holdings.own("cuMemFree", partial)
        after = [_launch(builder, f"eagle_{op}_{dtype}_{between}", (address, stride, count, int(partial)), op, after)]
        address, stride, count, dtype = int(partial), size, blocks, between
    return _launch(builder, f"eagle_{op}_{dtype}_{out.dtype}", (address, stride, count, out.address), op, after)


def _launch(
    builder: GraphBuilder, kernel: str, places: tuple[int, int, int, int], op: str, after: Sequence[int]
) -> int:
    address, stride, count, into = places
    return builder.kernel(
        function(builder.device.ordinal, "reductions", kernel),
        [
            (address, ctypes.c_void_p),
            (stride, ctypes.c_longlong),
            (count, ctypes.c_longlong),
            (into, ctypes.c_void_p),
            (int(op == "all"), ctypes.c_int),  # what no elements give
        ],
        after,
        threads=max(-(-count // _BLOCK), 1) * _LANES,
        block=_LANES,
    )
