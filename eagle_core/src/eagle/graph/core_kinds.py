"""The core's own kinds of node and how they run, registered through the same contract as a plugin's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eagle.errors import BuildError
from eagle.graph.conditional import bodies, guard_access
from eagle.graph.copy import copy_access
from eagle.graph.launch import launch_access
from eagle.graph.opaque import declared_access
from eagle.graph.payloads import Child, Opaque
from eagle.graph.reduce import reduce_access
from eagle.graph.until_done import loop_access, lower_until_done
from eagle.plugin.blueprint import Placed
from eagle.plugin.lookup import adopters
from eagle.plugin.lowering import LowerContext, Lowering, Step
from eagle.plugin.nodes import NodeKind

if TYPE_CHECKING:
    from eagle.plugin.framework import ForeignGraph

__all__ = ["KINDS", "LOWERINGS"]


def _lower_opaque(placed: Placed[Opaque], context: LowerContext) -> Step:
    return context.call(placed.node.payload.fn)


def _lower_skippable(placed: Placed[Any], context: LowerContext) -> Step:
    return context.when(placed.node.payload.guard, context.body(placed.bodies[0]))


def _lower_repeat_while(placed: Placed[Any], context: LowerContext) -> Step:
    payload = placed.node.payload
    body = context.body(placed.bodies[0])
    return context.repeat(payload.guard, body, limit=payload.limit, report=payload.state.report)


def _lower_child(placed: Placed[Child], context: LowerContext) -> Step:
    """Have the backend take in the graph; the first framework that adopts the owner decides."""
    owner = placed.node.payload.owner
    foreign = next((found for adopt in adopters() if (found := adopt(owner)) is not None), None)
    what = f"a child graph of a {type(owner).__name__}"
    if foreign is None:
        raise BuildError(
            f"no installed plugin knows {what}",
            fix="Install the eagle plugin of its framework; on the CPU, call the model in an opaque.",
            nodes=(placed.label,),
        )
    if foreign.backend != context.backend:
        raise BuildError(
            f"{what} runs on backend {foreign.backend!r}, not on {context.backend!r}",
            fix="Call the model in an opaque there.",
            nodes=(placed.label,),
        )
    context.keep(foreign.keep, owner)
    context.before_launch(_unchanged(foreign, placed.label))
    return context.child(foreign)


def _unchanged(foreign: ForeignGraph, label: str) -> Any:
    built = foreign.version()

    def check() -> None:
        if foreign.version() != built:
            raise BuildError(
                "the child graph was reset or captured again since the build",
                fix="Build a new eagle graph over it.",
                nodes=(label,),
            )

    return check


KINDS: tuple[NodeKind[Any], ...] = (
    NodeKind(name="opaque", access=declared_access),
    NodeKind(name="child", access=declared_access),
    NodeKind(name="copy", access=copy_access, complete_access=True, mixed=True),
    NodeKind(name="launch", access=launch_access, complete_access=True),
    NodeKind(name="until_done", access=loop_access, complete_access=True),
    NodeKind(name="begin_step", access=declared_access, complete_access=True),
    NodeKind(name="end_step", access=declared_access, complete_access=True),
    NodeKind(name="reduce", access=reduce_access, complete_access=True),
    NodeKind(name="skippable", access=guard_access, bodies=bodies, complete_access=True),
    NodeKind(name="repeat_while", access=guard_access, bodies=bodies, complete_access=True),
)

LOWERINGS: tuple[Lowering, ...] = (
    Lowering(kind="opaque", backend="*", lower=_lower_opaque),
    Lowering(kind="child", backend="*", lower=_lower_child),
    Lowering(kind="skippable", backend="*", lower=_lower_skippable),
    Lowering(kind="until_done", backend="*", lower=lower_until_done),
    Lowering(kind="repeat_while", backend="*", lower=_lower_repeat_while),
)
