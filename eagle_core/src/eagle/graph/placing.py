"""Placing a node: reading which memory it and its bodies touch, once, when it is added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eagle.access import before, covers, footprint
from eagle.errors import BuildError, EagleError, PluginError
from eagle.graph.claims import check_free
from eagle.graph.labels import Labels
from eagle.graph.planes import inherited_planes, own_planes
from eagle.plugin.blueprint import Blueprint, Placed, Plane
from eagle.plugin.kernels import Launch
from eagle.plugin.lookup import kind_named
from eagle.plugin.nodes import Body, Node, NodeKind

__all__ = ["default_label", "expansion", "place"]


def place(node: Node[Any], *, index: int, label: str) -> Placed[Any]:
    """Return `node` at its place, with its planes read and its bodies frozen.

    Raises
    ------
    GraphError
        There is no such kind.
    PlaneError
        An array that cannot be used as the node wants to.
    PluginError
        Its kind is defined twice, or returned something that is no access or no body.
    """
    try:
        kind = kind_named(node.kind)
        own = own_planes(_called(kind, kind.access, node, "access"))
        bodies = tuple(_frozen(body.title, body.nodes) for body in _bodies(kind, node))
    except EagleError as error:
        error.locate(node=label)
        raise
    except Exception as error:
        error.add_note(f"while reading the planes of node {label!r} (kind {node.kind!r})")
        raise
    planes = inherited_planes(own, bodies) if bodies else own
    return Placed(index=index, label=label, node=node, kind=kind, planes=planes, bodies=bodies)


def default_label(node: Node[Any]) -> str:
    """Return the label of a node that is added without a name: its own, its kernel's, or its kind."""
    if not node.name and isinstance(node.payload, Launch):
        return node.payload.kernel.name
    return node.name or node.kind


def expansion(outer: Placed[Any], nodes: Sequence[Node[Any]]) -> Blueprint:
    """Return `nodes` as the blueprint that stands in for `outer`.

    Raises
    ------
    BuildError
        One touches memory that `outer` did not declare, or writes what it declared as read.
    """
    inner = _frozen(f"the expansion of {outer.label}", nodes)
    check_free(None, inner.nodes)
    readable = [footprint(plane.memory) for plane in outer.planes]
    writable = [footprint(plane.memory) for plane in outer.planes if plane.access.mode != "r"]
    for placed in inner.nodes:
        for plane in placed.planes:
            if not covers(readable if plane.access.mode == "r" else writable, footprint(plane.memory)):
                raise BuildError(
                    f"it expands into {placed.label!r}, which {_verb(plane)} plane {plane.access.name!r}, "
                    f"and declares no such access",
                    why="the edges of the graph rest on what a node declares",
                    fix=f"Declare it in the access of kind {outer.kind.name!r}.",
                    nodes=(outer.label,),
                )
    return inner


def _verb(plane: Plane) -> str:
    return {"r": "reads", "w": "writes", "rw": "reads and writes"}[plane.access.mode]


def _frozen(title: str, nodes: Sequence[Node[Any]]) -> Blueprint:
    labels = Labels()
    names = labels.reserve(map(default_label, nodes))
    placed = tuple(
        place(node, index=index, label=label) for index, (node, label) in enumerate(zip(nodes, names, strict=True))
    )
    stages = tuple(((index,),) for index in range(len(placed)))
    return Blueprint(title=title, nodes=placed, stages=stages, before=before(placed, stages))


def _bodies(kind: NodeKind[Any], node: Node[Any]) -> Iterable[Body]:
    if kind.bodies is None:
        return
    for body in _called(kind, kind.bodies, node, "bodies"):
        sound = (
            isinstance(body, Body)
            and isinstance(body.title, str)
            and isinstance(body.nodes, tuple)
            and all(isinstance(inner, Node) for inner in body.nodes)
        )
        if not sound:
            raise PluginError(
                f"kind {kind.name!r} returned {body!r} from bodies", fix="Return Body(title=str, nodes=tuple of Node)."
            )
        yield body


def _called(kind: NodeKind[Any], function: Any, node: Node[Any], what: str) -> Iterable[Any]:
    returned = function(node)
    if not isinstance(returned, Iterable):
        raise PluginError(f"{what} of kind {kind.name!r} returned {returned!r}", fix="Return an iterable.")
    return returned
