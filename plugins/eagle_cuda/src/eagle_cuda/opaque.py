"""Opaque nodes: captured, or run by the host between two graphs."""

from __future__ import annotations

from eagle.graph.payloads import Opaque
from eagle.plugin import Placed, Step, stream_handle
from eagle_cuda.context import CudaContext

__all__ = ["lower"]


def lower(placed: Placed[Opaque], context: CudaContext) -> Step:
    """Capture it, or have the host run it where ``stream=`` or ``eager=True`` says so."""
    payload = placed.node.payload
    if payload.eager:
        return context.host(payload.fn)
    if payload.stream is None:
        return context.call(payload.fn)
    context.keep(payload.stream)
    return context.host(payload.fn, stream=stream_handle(payload.stream))
