"""``skippable`` and ``repeat_while``: a step behind a guard that is read while the graph runs."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as as_index
from typing import Any, SupportsIndex

from eagle.errors import GraphError, GraphTypeError
from eagle.graph.guard import checked
from eagle.graph.items import step_of
from eagle.graph.payloads import RepeatWhile, Skippable
from eagle.plugin.nodes import Access, Body, Node

__all__ = ["Conditional", "bodies", "guard_access", "repeat_while", "skippable"]


class Conditional(Node[Any]):
    """A node that holds a step and a guard. It stands in one place of one graph, as long as that graph lives."""

    __slots__ = ()

    @property
    def iterations(self) -> int | None:
        """How often the body of a loop ran in the last repetition; None before one, and for a `skippable`."""
        return self.payload.state.iterations  # type: ignore[no-any-return]

    @property
    def hit_limit(self) -> bool | None:
        """Whether the loop would have gone on but for `max_iters`, in the last repetition; None before one."""
        return self.payload.state.hit_limit  # type: ignore[no-any-return]


def skippable(step: object, guard: object, *, name: str | None = None) -> Conditional:
    """Make a node that runs `step` when `guard` is true, read when its turn comes.

    Parameters
    ----------
    step : node, bound plan, ``bound.launch``, conditional, callable, or a tuple of them
        A callable on its own has no planes, so only the guard takes part in the ordering; prefer the others. A tuple
        runs in its order.
    guard : SkipGuard
    name : str, optional
        Its label.

    Raises
    ------
    GraphTypeError
        `step` is none of these, or `guard` is no guard.
    """
    return Conditional("skippable", Skippable(guard=checked(guard), step=step_of(step, "skippable")), name)


def repeat_while(
    step: object, guard: object, max_iters: SupportsIndex | None = None, *, name: str | None = None
) -> Conditional:
    """Make a node that repeats `step` while `guard` is true, read before each iteration.

    Parameters
    ----------
    step, guard, name
        As for `skippable`.
    max_iters : int, optional
        The most iterations, at least 1. None: no limit.

    Raises
    ------
    GraphTypeError
        As for `skippable`, or `max_iters` is no integer.
    GraphError
        `max_iters` is less than 1.
    """
    limit: int | None = None
    if max_iters is not None:
        try:
            limit = as_index(max_iters)
        except TypeError:
            raise GraphTypeError(f"max_iters is an integer, not {max_iters!r}") from None
        if limit < 1:
            raise GraphError(f"max_iters is {limit}", fix="Give at least 1, or None for no limit.")
    payload = RepeatWhile(guard=checked(guard), step=step_of(step, "repeat_while"), limit=limit)
    return Conditional("repeat_while", payload, name)


def guard_access(node: Node[Any]) -> Iterable[Access]:
    """Yield the cells a conditional's guard reads."""
    guard = node.payload.guard
    yield Access(name="guard", array=guard.array, mode="r", cells=(guard.index,))
    if guard.baseline is not None:
        yield Access(name="baseline", array=guard.baseline, mode="r", cells=(guard.baseline_index,))


def bodies(node: Node[Any]) -> Iterable[Body]:
    """Yield a conditional's step, under the title its frame carries."""
    payload = node.payload
    if isinstance(payload, Skippable):
        title = "skip if guard"
    elif payload.limit is None:
        title = "repeat while guard"
    else:
        title = f"repeat ≤ {payload.limit}"
    yield Body(title=title, nodes=payload.step)
