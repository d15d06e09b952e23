"""Opaque nodes: captured, or run by the host between two graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from eagle.graph.payloads import Opaque
from eagle.plugin import BuildError, Placed, Step, stream_handle
from eagle_cuda.context import CudaContext
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.steps import CudaStep

__all__ = ["lower"]


def lower(placed: Placed[Opaque], context: CudaContext) -> Step:
    """Capture it, or have the host run it where ``stream=`` or ``eager=True`` says so."""
    payload = placed.node.payload
    if payload.eager:
        return context.host(payload.fn)
    if payload.stream is None:
        step = context.call(payload.fn)
        return context.built(partial(_recorded, step)) if payload.must_record else step
    context.keep(payload.stream)
    return context.host(payload.fn, stream=stream_handle(payload.stream))


def _recorded(step: CudaStep, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
    """Add the step, and refuse it if nothing was recorded: host code, which has run now and would never again."""
    tails = step.add(builder, after)
    if set(tails) <= set(after):
        raise BuildError(
            "its code launched nothing on the current stream of an imported library",
            why="a captured step is replayed by the device, and what the host does in it happens once, at the build",
            fix="Build it with build(backend='cpu'), which calls it at every launch, or launch on the current stream.",
        )
    return tails
