"""How eagle's own kinds run on slabs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from eagle.plugin import BuildError, LowerContext, Placed


def lower_copy(placed: Placed[Any], context: LowerContext) -> Callable[[], object]:
    src, into = placed.node.payload.src, placed.node.payload.into
    if not (hasattr(src, "host") and hasattr(into, "host")):
        raise BuildError("this backend copies inside slabs only")
    return lambda: np.copyto(into.host(), src.host())


def lower_reduce(placed: Placed[Any], context: LowerContext) -> Callable[[], object]:
    placed.node.payload.refuse_empty(placed)
    payload = placed.node.payload
    return lambda: payload.out.host().__setitem__(..., reduced(payload.x.host(), payload.op))


def reduced(x: np.ndarray, op: str) -> Any:
    """The documented rule, one element at a time."""
    values = list(x)
    if op == "all":
        return all(values)
    if op == "any":
        return any(values)
    if op in ("max", "min"):
        return reduce(_larger if op == "max" else _smaller, values)
    with np.errstate(all="ignore"):
        wide = [np.float64(value) for value in values] if x.dtype == np.float32 else values
        return x.dtype.type(_total(wide)) if wide else x.dtype.type(0)


def _total(values: list[Any]) -> Any:
    while len(values) > 1:
        values = [_block(values[start : start + 4096]) for start in range(0, len(values), 4096)]
    return values[0]


def _block(values: list[Any]) -> Any:
    lanes: list[Any] = []
    for number, value in enumerate(values):
        if number < 64:
            lanes.append(value)
        else:
            lanes[number % 64] = lanes[number % 64] + value
    half = 32
    while half:
        for lane in range(half):
            if lane + half < len(lanes):
                lanes[lane] = lanes[lane] + lanes[lane + half]
        del lanes[half:]
        half //= 2
    return lanes[0]


def _larger(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return b if np.signbit(a) else a
    return max(a, b)


def _smaller(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return a if np.signbit(a) else b
    return min(a, b)
