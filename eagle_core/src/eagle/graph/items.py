"""What stands for a node in a call: a node, a bound plan, a plan's ``launch``, a callable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from eagle.errors import GraphTypeError
from eagle.graph.opaque import opaque
from eagle.plugin.nodes import Node

__all__ = ["branch_of", "name_of", "node_of_plan", "step_of"]


def node_of_plan(item: object) -> Node[Any] | None:
    """Return the node of a bound plan, which is anything with ``__eagle_node__``, or None.

    Raises
    ------
    GraphTypeError
        Its ``__eagle_node__`` returned something else.
    """
    method = getattr(type(item), "__eagle_node__", None)
    if method is None or isinstance(item, type):
        return None
    node = method(item)
    if not isinstance(node, Node):
        raise GraphTypeError(f"__eagle_node__ of {type(item).__name__} returned {node!r}, which is no eagle Node")
    return node


def branch_of(branch: object, number: int) -> list[Node[Any]]:
    """Return the nodes of one branch of a group: one item, or a list of them.

    Raises
    ------
    GraphTypeError
        Something in it is neither a node nor a bound plan.
    """
    items = branch if isinstance(branch, (list, tuple)) else [branch]
    if not items:
        raise GraphTypeError(f"branch {number} of the group is empty", fix="Leave it out, or put a node in it.")
    return [_member(item, number) for item in items]


def step_of(step: object, what: str) -> tuple[Node[Any], ...]:
    """Return the nodes of a conditional's step: one part, or a tuple of parts.

    Raises
    ------
    GraphTypeError
        A part is neither a node, a bound plan nor a callable, or there is none.
    """
    parts = step if isinstance(step, (list, tuple)) else (step,)
    if not parts:
        raise GraphTypeError(f"{what} needs a step", fix="Pass a node, a bound plan's launch or a callable.")
    return tuple(_part(part, what) for part in parts)


def name_of(name: object, what: str) -> str | None:
    """Return a name, or None when there is none or it is empty.

    Raises
    ------
    GraphTypeError
        It is no string.
    """
    if name is not None and not isinstance(name, str):
        raise GraphTypeError(f"{what} is a string, not {name!r}")
    return name or None


def _member(item: object, number: int) -> Node[Any]:
    if isinstance(item, Node):
        return item
    if (node := node_of_plan(item)) is not None:
        return node
    where = f"branch {number} of the group"
    if isinstance(item, str):
        raise GraphTypeError(f"{where} holds the string {item!r}", fix="Names go into names=[...].")
    if isinstance(item, Iterable) and not hasattr(item, "__array__"):
        raise GraphTypeError(f"{where} holds {item!r}", fix="Groups do not nest; a branch is a flat list of nodes.")
    if callable(item):
        raise GraphTypeError(
            f"{where} holds the callable {item!r}",
            why="a group has to know which arrays its branches touch",
            fix="Wrap it: eagle.graph.opaque(fn, reads=..., writes=...).",
        )
    raise GraphTypeError(f"{where} holds {item!r}, which is neither a node nor a bound plan")


def _part(part: object, what: str) -> Node[Any]:
    if isinstance(part, Node):
        return part
    if (node := node_of_plan(part)) is not None:
        return node
    owner = getattr(part, "__self__", None)
    if getattr(part, "__name__", None) == "launch" and (node := node_of_plan(owner)) is not None:
        return node
    if callable(part):
        return opaque(part)
    raise GraphTypeError(
        f"the step of {what} is {part!r}", fix="Pass a node, a bound plan's launch, another conditional or a callable."
    )
