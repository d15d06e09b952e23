"""What a loop of several nodes does before and after each step, where steps are counted or states looked at."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from eagle.graph.payloads import SampleStep
from eagle.plugin import Memory, Placed, Step
from eagle_cuda.context import CudaContext
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.modules import function

__all__ = ["lower_begin", "lower_end"]


def lower_begin(placed: Placed[SampleStep], context: CudaContext) -> Step:
    """Note which samples run in this step, and count it for them."""
    planes = _planes(placed)
    steps = planes["steps"].address if "steps" in planes else 0

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        places = [planes["mask"].address, planes["running"].address, steps]
        return [_launch(builder, "eagle_begin_step", [(place, ctypes.c_void_p) for place in places], planes, after)]

    return context.built(build)


def lower_end(placed: Placed[SampleStep], context: CudaContext) -> Step:
    """End the samples of this step whose state is no number any more: a kernel for each state, one after another."""
    planes = _planes(placed)
    states = [memory for name, memory in planes.items() if name.startswith("state ")]

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        for state in states:
            rows = state.shape[0] if len(state.shape) > 1 else 1
            step = state.strides[0] if len(state.shape) > 1 else 0
            arguments: list[tuple[Any, Any]] = [
                (state.address, ctypes.c_void_p),
                (rows, ctypes.c_longlong),
                (step // state.itemsize, ctypes.c_longlong),
            ]
            arguments += [(planes[name].address, ctypes.c_void_p) for name in ("running", "failed", "mask")]
            after = [_launch(builder, f"eagle_end_step_{state.dtype}", arguments, planes, after)]
        return after

    return context.built(build)


def _planes(placed: Placed[Any]) -> dict[str, Memory]:
    return {plane.access.name: plane.memory for plane in placed.planes}


def _launch(
    builder: GraphBuilder, name: str, arguments: list[tuple[Any, Any]], planes: dict[str, Memory], after: Sequence[int]
) -> int:
    (samples,) = planes["mask"].shape
    if not samples:
        return builder.empty(after)
    kernel = function(builder.device.ordinal, "loops", name)
    return builder.kernel(kernel, [*arguments, (samples, ctypes.c_longlong)], after, threads=samples)
