"""What leaves the repetitions after a fault alone though it cannot look for one itself: copies and reductions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TypeAlias

from eagle_cuda.context import CudaContext
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.modules import function

__all__ = ["unless_halted"]

Build: TypeAlias = Callable[[GraphBuilder, Sequence[int]], Sequence[int]]


def unless_halted(context: CudaContext, build: Build) -> Build:
    """Return `build`, in a graph in which a kernel can fault put into a conditional node of its own.

    Later repetitions are queued already when the host learns of a fault, and are to change nothing. A body needs none:
    no conditional runs then. Where the driver has no conditional nodes, the host looks before it queues one.
    """

    def built(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        if builder.in_body or not context.ledger.faults:
            return build(builder, after)
        context.ledger.allocate(builder)
        if not builder.device.abilities.conditional_nodes:
            context.ledger.watched = True
            return build(builder, after)
        condition = builder.condition()
        decided = builder.kernel(
            function(builder.device.ordinal, "conditions", "eagle_unless_halted"),
            [(int(condition), ctypes.c_uint64), (context.ledger.outcome, ctypes.c_void_p)],
            after,
            threads=1,
        )
        node, body = builder.conditional(condition, [decided], loop=False)
        build(body, [])
        return [node]

    return built
