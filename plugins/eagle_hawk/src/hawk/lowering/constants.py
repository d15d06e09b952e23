"""What a name of the surroundings becomes: a number, a vector of constants, or a thing to be called or looked into."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from eagle_ir import Type
from hawk.annotations import LARGEST
from hawk.lowering.frame import Frame
from hawk.lowering.values import Group, Items, Known, Number, Static, Val
from hawk.lowering.vectors import build

__all__ = ["constant"]

_DTYPES = {type_.value: type_ for type_ in Type}


def constant(frame: Frame, node: ast.AST, thing: Any) -> Val:
    """Return a constant of the surroundings as a value."""
    if isinstance(thing, bool | np.bool_):
        return Known(bool(thing))
    if isinstance(thing, int | np.integer):
        return Known(int(thing))
    if isinstance(thing, float | np.floating):
        return frame.const(float(thing), frame.scalar)
    if isinstance(thing, complex | np.complexfloating):
        raise frame.error(node, "complex numbers are not part of the kernel language", fix="Keep two real ones")
    if isinstance(thing, np.ndarray):
        return _array(frame, node, thing)
    if isinstance(thing, tuple):
        return Items(tuple(constant(frame, node, one) for one in thing))
    if isinstance(thing, list):
        return build(frame, node, [constant(frame, node, one) for one in thing])
    if isinstance(thing, dict | set | frozenset | bytes | types.GeneratorType):
        raise frame.error(
            node, f"a {type(thing).__name__} is not part of the kernel language", fix="Use numbers, or a Table argument"
        )
    return Static(thing)


def _array(frame: Frame, node: ast.AST, array: np.ndarray[Any, Any]) -> Val:
    if array.dtype.name not in _DTYPES:
        raise frame.error(node, f"an array of {array.dtype} cannot be a constant", fix="Convert it to float64 or int64")
    type_ = _DTYPES[array.dtype.name]
    if type_.is_float and type_ is not frame.scalar:
        raise frame.error(
            node,
            f"a {type_.value} array in a {frame.scalar.value} plan",
            fix=f"Convert it: array.astype({frame.scalar.value!r})",
        )
    if array.ndim not in (0, 1, 2) or not 0 < array.size <= LARGEST:
        raise frame.error(
            node,
            f"an array of shape {array.shape} cannot be a constant",
            fix=f"Up to {LARGEST} elements on one or two axes can; pass others as a Table argument",
        )
    items = tuple(Number(frame.emitter.const(one.item(), type_)) for one in array.ravel())
    return items[0] if array.ndim == 0 else Group(array.shape, items)
