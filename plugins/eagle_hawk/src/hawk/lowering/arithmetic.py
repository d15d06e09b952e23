"""Numbers of mixed types: what they become together, and the operators between them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence

from eagle_ir import Type
from hawk.lowering.frame import Frame, fits
from hawk.lowering.values import Element, Known, Number, kind_name

__all__ = ["COMPARISONS", "OPERATORS", "binary", "common_type", "compare", "negate", "promote"]

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_BITWISE = ("and", "or", "xor", "shl", "shr")
_KNOWN: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "min": min,
    "max": max,
}
LONGEST_POWER = 64
"""The largest constant exponent that is written out as multiplications."""


def common_type(first: Type, second: Type) -> Type:
    """Return the type two numbers have together; two bools stay bools."""
    if first is second:
        return first
    if first.is_float or second.is_float:
        return first if first.is_float else second
    if Type.BOOL in (first, second):
        other = second if first is Type.BOOL else first
        return common_type(Type.I32, other)
    return Type.I64


def promote(frame: Frame, node: ast.AST, values: Sequence[Element]) -> list[Number]:
    """Return numbers converted to the type they have together. A constant that does not fit makes that an Index."""
    found: Type | None = None
    for value in values:
        if isinstance(value, Number):
            found = value.type if found is None else common_type(found, value.type)
    for value in values:
        if isinstance(value, Known):
            found = _with_known(found, value)
    assert found is not None
    return [frame.typed(node, value, found) for value in values]


def _with_known(found: Type | None, value: Known) -> Type:
    if value.is_bool:
        return Type.BOOL if found is None else common_type(found, Type.BOOL)
    if found is None:
        return Type.I64
    if found.is_float:
        return found
    found = Type.I32 if found is Type.BOOL else found
    return found if fits(value.number, found) else Type.I64


def arithmetic_type(frame: Frame, node: ast.AST, values: Sequence[Element]) -> list[Number]:
    """Return numbers of one type in which one can calculate: a bool is an Int32."""
    numbers = promote(frame, node, values)
    if numbers[0].type is Type.BOOL:
        return [frame.typed(node, one, Type.I32) for one in numbers]
    return numbers


def binary(frame: Frame, node: ast.AST, op: str, left: Element, right: Element) -> Element:
    """An operator between two numbers."""
    if isinstance(left, Known) and isinstance(right, Known):
        known = _fold(frame, node, op, left, right)
        if known is not None:
            return known
    if op == "pow":
        return power(frame, node, left, right)
    if op in _BITWISE:
        return _bitwise(frame, node, op, left, right)
    a, b = arithmetic_type(frame, node, (left, right))
    if op == "div" and not a.type.is_float:
        a, b = (frame.typed(node, one, frame.scalar) for one in (a, b))
    if op in ("floordiv", "mod"):
        result = frame.compute(op, a, b, node=node if a.type.is_integer else None)
    else:
        result = frame.compute(op, a, b)
    return Number(result.value, _bounds(op, a, b))


def _fold(frame: Frame, node: ast.AST, op: str, left: Known, right: Known) -> Known | None:
    a, b = left.number, right.number
    if op in ("floordiv", "mod") and b == 0:
        return None  # the launch raises, if it comes here
    if op in ("and", "or", "xor") and left.is_bool and right.is_bool:
        return Known(bool(_KNOWN[op](a, b)))
    if op in _KNOWN:
        return _small(frame, node, _KNOWN[op](int(a), int(b)))
    if op == "pow" and 0 <= b <= LONGEST_POWER:
        return _small(frame, node, int(a) ** int(b))
    if op in ("shl", "shr") and 0 <= b < 64:
        return _small(frame, node, int(a) << int(b) if op == "shl" else int(a) >> int(b))
    return None


def _small(frame: Frame, node: ast.AST, number: int) -> Known:
    if not -(2**63) <= number < 2**64:
        raise frame.error(node, "this constant does not fit in 64 bits", fix="Write it as a float: 2.0**70")
    return Known(number)


def _bitwise(frame: Frame, node: ast.AST, op: str, left: Element, right: Element) -> Number:
    a, b = promote(frame, node, (left, right))
    if a.type.is_float:
        raise frame.error(node, "bitwise operators take whole numbers or truth values", fix="Convert with int() first")
    if a.type is Type.BOOL and op in ("shl", "shr"):
        a, b = (frame.typed(node, one, Type.I32) for one in (a, b))
    return frame.compute(op, a, b)


def power(frame: Frame, node: ast.AST, base: Element, exponent: Element) -> Element:
    """``x ** n``: multiplications for a constant whole n up to 64, from its highest bit down; else ``pow``."""
    if isinstance(exponent, Known) and abs(exponent.number) <= LONGEST_POWER:
        count = int(exponent.number)
        (number,) = arithmetic_type(frame, node, (base,))
        if count < 0:
            number = frame.typed(node, number, frame.scalar)
        if count == 0:
            return frame.const(1, number.type)
        result = number
        for bit in bin(abs(count))[3:]:
            result = frame.compute("mul", result, result)
            if bit == "1":
                result = frame.compute("mul", result, number)
        return result if count > 0 else frame.compute("div", frame.const(1, result.type), result)
    a, b = (frame.typed(node, one, frame.scalar) for one in (base, exponent))
    return frame.compute("pow", a, b)


def negate(frame: Frame, node: ast.AST, value: Element) -> Element:
    """``-x``."""
    if isinstance(value, Known):
        return Known(-int(value.number))
    (number,) = arithmetic_type(frame, node, (value,))
    bounds = None if number.bounds is None else (-number.bounds[1], -number.bounds[0])
    return Number(frame.compute("neg", number).value, bounds)


def compare(frame: Frame, node: ast.AST, op: str, left: Element, right: Element) -> Element:
    """A comparison; numbers of mixed types are converted first."""
    if isinstance(left, Known) and isinstance(right, Known):
        return Known(bool(getattr(operator, op)(left.number, right.number)))
    a, b = promote(frame, node, (left, right))
    if a.type is Type.BOOL and op not in ("eq", "ne"):
        a, b = (frame.typed(node, one, Type.I32) for one in (a, b))
    return frame.compute(op, a, b)


def _bounds(op: str, left: Number, right: Number) -> tuple[int, int] | None:
    """What is known of a result from what is known of the operands; only where nothing can wrap."""
    a, b = left.bounds, right.bounds
    if b is not None and op == "mod" and b[0] > 0:
        return (0, b[1] - 1)
    if a is None or b is None or op not in ("add", "sub", "mul", "floordiv"):
        return None
    if op == "floordiv" and b[0] <= 0:
        return None
    corners = [_KNOWN[op](x, y) for x in a for y in b]
    low, high = min(corners), max(corners)
    return (low, high) if all(fits(one, left.type) for one in (low, high)) else None


def require_element(frame: Frame, node: ast.AST, value: object) -> Element:
    """Return a value that has to be one number."""
    if isinstance(value, Known | Number):
        return value
    raise frame.error(node, f"a number is needed here, not {kind_name(value)}")  # type: ignore[arg-type]
