"""Vectors and matrices: element by element, products, and how they are made of numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from eagle_ir import Type
from hawk.lowering.arithmetic import arithmetic_type, binary, promote
from hawk.lowering.frame import Frame
from hawk.lowering.values import Element, Group, Items, Known, Number, Val, kind_name

__all__ = ["build", "elementwise", "group_of", "product", "row", "total"]


def group_of(frame: Frame, node: ast.AST, shape: tuple[int, ...], items: Sequence[Element]) -> Group:
    """Return a vector or matrix of numbers, converted to the type they have together."""
    return Group(shape, tuple(promote(frame, node, items)))


def build(frame: Frame, node: ast.AST, rows: Sequence[Val]) -> Group:
    """Return the vector of numbers, or the matrix of vectors, given."""
    if not rows:
        raise frame.error(node, "a vector has at least one element")
    if all(isinstance(one, Known | Number) for one in rows):
        return group_of(frame, node, (len(rows),), [one for one in rows if isinstance(one, Known | Number)])
    parts = [build(frame, node, one.items) if isinstance(one, Items) else one for one in rows]
    groups = [one for one in parts if isinstance(one, Group) and len(one.shape) == 1]
    if len(groups) != len(parts) or len({one.shape for one in groups}) != 1:
        raise frame.error(node, "this is neither a vector of numbers nor a matrix of rows of one length")
    return group_of(frame, node, (len(groups), *groups[0].shape), [item for one in groups for item in one.items])


def elementwise(
    frame: Frame, node: ast.AST, values: Sequence[Val], function: Callable[[Sequence[Element]], Element]
) -> Val:
    """Apply a function of numbers to numbers, or to every element of vectors of one shape; numbers go with each."""
    shape: tuple[int, ...] | None = None
    for value in values:
        if isinstance(value, Group):
            if shape is not None and value.shape != shape:
                first = next(one for one in values if isinstance(one, Group))
                raise frame.error(node, f"{kind_name(first)} does not go with {kind_name(value)}")
            shape = value.shape
        elif not isinstance(value, Known | Number):
            raise frame.error(node, f"a number is needed here, not {kind_name(value)}")
    if shape is None:
        return function([one for one in values if isinstance(one, Known | Number)])
    count = next(len(one.items) for one in values if isinstance(one, Group))
    results = [
        function([one.items[k] if isinstance(one, Group) else one for one in values if not isinstance(one, Items)])  # type: ignore[misc]
        for k in range(count)
    ]
    return group_of(frame, node, shape, results)


def product(frame: Frame, node: ast.AST, left: Val, right: Val) -> Val:
    """``a @ b``: of vectors a number, else as matrices; each sum is taken from left to right."""
    if not isinstance(left, Group) or not isinstance(right, Group):
        odd = left if not isinstance(left, Group) else right
        raise frame.error(node, f"@ multiplies vectors and matrices, not {kind_name(odd)}", fix="Numbers take *")
    if left.shape[-1] != right.shape[0]:
        raise frame.error(node, f"{kind_name(left)} @ {kind_name(right)} do not fit together")
    rows = [row(left, k) for k in range(left.shape[0])] if len(left.shape) == 2 else [left.items]
    columns = right.shape[1] if len(right.shape) == 2 else 1
    found = [
        total(
            frame, node, [binary(frame, node, "mul", a, b) for a, b in zip(one, right.items[k::columns], strict=True)]
        )
        for one in rows
        for k in range(columns)
    ]
    shape = left.shape[:-1] + right.shape[1:]
    return group_of(frame, node, shape, found) if shape else found[0]


def row(matrix: Group, number: int) -> tuple[Number, ...]:
    """Return the elements of one row."""
    width = matrix.shape[1]
    return matrix.items[number * width : (number + 1) * width]


def total(frame: Frame, node: ast.AST, values: Sequence[Element]) -> Element:
    """Return the sum, from left to right."""
    result = values[0]
    for value in values[1:]:
        result = binary(frame, node, "add", result, value)
    return result


def fused(frame: Frame, node: ast.AST, factors: tuple[Val, Val], addend: Val, signs: tuple[bool, bool]) -> Val:
    """``±(a * b) ± c``, by `fma` where the product is a float; each sign says whether to negate.

    Parameters
    ----------
    factors, addend : Val
    signs : (bool, bool)
        Of the first factor, and of the addend.
    """

    def one(values: Sequence[Element]) -> Element:
        floats = [value for value in values[:2] if isinstance(value, Number) and value.type.is_float]
        if not floats:
            middle = binary(frame, node, "mul", values[0], values[1])
            if signs[0]:
                return binary(frame, node, "sub", values[2], middle)
            return binary(frame, node, "sub" if signs[1] else "add", middle, values[2])
        a, b, c = arithmetic_type(frame, node, values)
        a = frame.compute("neg", a) if signs[0] else a
        c = frame.compute("neg", c) if signs[1] else c
        return frame.compute("fma", a, b, c)

    return elementwise(frame, node, (*factors, addend), one)


def convert_elements(frame: Frame, node: ast.AST, value: Val, type_: Type) -> Val:
    """Return a number or a vector with its elements converted."""
    return elementwise(frame, node, (value,), lambda values: frame.typed(node, values[0], type_))
