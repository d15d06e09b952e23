"""Kinds of node: one with a lowering per backend, two written once for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import Access, Body, LowerContext, Node, Placed, PlaneError, Step, adapter_of


@dataclass(frozen=True)
class Scale:
    """``out = factor * x``."""

    x: Any
    factor: float
    out: Any


@dataclass(frozen=True)
class ScaleTwice:
    """``out = factor**2 * x``, by way of `between`."""

    x: Any
    factor: float
    between: Any
    out: Any


@dataclass(frozen=True)
class Times:
    """Its nodes, `count` times."""

    count: int
    nodes: tuple[Node[Any], ...]


def scale(x: Any, factor: float, out: Any) -> Node[Scale]:
    return Node("eagle_slab.scale", Scale(x, factor, out))


def scale_twice(x: Any, factor: float, between: Any, out: Any) -> Node[ScaleTwice]:
    return Node("eagle_slab.scale_twice", ScaleTwice(x, factor, between, out))


def times(count: int, *nodes: Node[Any]) -> Node[Times]:
    return Node("eagle_slab.times", Times(count, nodes))


def scale_access(node: Node[Scale]) -> Iterable[Access]:
    shapes = [adapter_of(array).describe(array).shape for array in (node.payload.x, node.payload.out)]
    if shapes[0] != shapes[1]:
        raise PlaneError(f"out has shape {shapes[1]} and x {shapes[0]}")
    yield Access(name="x", array=node.payload.x, mode="r", axis=0)
    yield Access(name="out", array=node.payload.out, mode="w", total=True, axis=0)


def scale_twice_access(node: Node[ScaleTwice]) -> Iterable[Access]:
    yield Access(name="x", array=node.payload.x, mode="r")
    yield Access(name="between", array=node.payload.between, mode="rw")
    yield Access(name="out", array=node.payload.out, mode="w", total=True)


def times_bodies(node: Node[Times]) -> Iterable[Body]:
    yield Body(title=f"x {node.payload.count}", nodes=node.payload.nodes)


def scale_on_slab(placed: Placed[Scale], context: LowerContext) -> Callable[[], object]:
    payload = placed.node.payload
    return lambda: np.multiply(payload.x.host(), payload.factor, out=payload.out.host())


def scale_on_cpu(placed: Placed[Scale], context: LowerContext) -> Callable[[], object]:
    payload = placed.node.payload
    return lambda: np.multiply(payload.x, payload.factor, out=payload.out)


def scale_twice_anywhere(placed: Placed[ScaleTwice], context: LowerContext) -> Step:
    payload = placed.node.payload
    return context.expand(
        scale(payload.x, payload.factor, payload.between), scale(payload.between, payload.factor, payload.out)
    )


def times_anywhere(placed: Placed[Times], context: LowerContext) -> Step:
    return context.repeat(None, context.body(placed.bodies[0]), limit=placed.node.payload.count)
