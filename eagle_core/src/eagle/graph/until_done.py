"""The node kind ``until_done``: a launch that is repeated until every sample says it is finished."""

from __future__ import annotations

from collections.abc import Iterable

from eagle.errors import BuildError
from eagle.graph.conditional import repeat_while
from eagle.graph.guard import SkipGuard
from eagle.graph.launch import launch_access
from eagle.graph.payloads import UntilDone
from eagle.graph.reduce import reduce
from eagle.plugin.blueprint import Placed
from eagle.plugin.lowering import LowerContext, Step
from eagle.plugin.nodes import Access, Node

__all__ = ["loop_access", "lower_until_done"]


def loop_access(node: Node[UntilDone]) -> Iterable[Access]:
    """Yield the planes of the launch, and what the loop itself writes."""
    payload = node.payload
    yield from launch_access(Node("launch", payload.launch))
    yield Access(name="all done", array=payload.all_done, mode="rw")
    for name, array in (("steps taken", payload.steps), ("samples failed", payload.failed)):
        if array is not None:
            yield Access(name=name, array=array, mode="rw", axis=0)


def lower_until_done(placed: Placed[UntilDone], context: LowerContext) -> Step:
    """Repeat the launch while a sample is unfinished, by a reduction of the mask and a loop.

    All samples step together, a finished one being left alone, so that the limit is exact for each. A backend that
    can run every sample to its own end brings a lowering of its own.

    Raises
    ------
    BuildError
        Steps are to be counted, or non-finite states found, per sample.
    """
    payload = placed.node.payload
    if payload.steps is not None or payload.failed is not None:
        raise BuildError(
            f"backend {context.backend!r} cannot count steps or find non-finite states per sample",
            fix="Leave out steps_per_sample= and stop_on_nonfinite=.",
            nodes=(placed.label,),
        )
    look = reduce(payload.launch.arrays[payload.mask], payload.all_done, "all")
    going = SkipGuard(payload.all_done, negate=True)
    loop = repeat_while((Node("launch", payload.launch), look), going, payload.limit)
    context.after_run(lambda: payload.report(loop.iterations or 0))
    return context.expand(look, loop)
