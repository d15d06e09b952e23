"""What each function of numbers that the language knows is lowered to; of vectors, element by element."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from functools import reduce

from eagle_ir import Type
from hawk.lowering.arithmetic import arithmetic_type, binary, promote, require_element
from hawk.lowering.frame import Frame
from hawk.lowering.values import Element, Group, Items, Known, Number, Val
from hawk.lowering.vector_functions import VECTOR_FUNCTIONS, Handler, check_count
from hawk.lowering.vectors import convert_elements, elementwise

__all__ = ["FUNCTIONS"]


def _on_floats(op: str, count: int) -> Handler:
    """An operation on floats, element by element; whole numbers become floats first."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, count)

        def one(elements: Sequence[Element]) -> Element:
            return frame.compute(op, *(frame.typed(node, element, frame.scalar) for element in elements))

        return elementwise(frame, node, values, one)

    return handler


def _operator(op: str) -> Handler:
    """An operator under the name of a function."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, 2)
        return elementwise(frame, node, values, lambda pair: binary(frame, node, op, pair[0], pair[1]))

    return handler


def _float_power(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    """``x ** y`` with x a float."""
    check_count(frame, node, values, 2)
    base = convert_elements(frame, node, values[0], frame.scalar)
    return _operator("pow")(frame, node, (base, values[1]))


def _extreme(op: str) -> Handler:
    """``min`` and ``max``, of any number of numbers, or of the elements of one vector; from left to right."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        if len(values) == 1 and isinstance(values[0], Group | Items) and values[0].items:
            values = values[0].items
        elif len(values) < 2:
            raise frame.error(node, f"{op} takes two or more numbers, or a vector")

        def two(one: Val, other: Val) -> Val:
            return elementwise(frame, node, (one, other), lambda pair: binary(frame, node, op, pair[0], pair[1]))

        return reduce(two, values)

    return handler


def _test(whole: bool, floating: Callable[[Frame, Number], Number]) -> Handler:
    """A test of floats, of which whole numbers know the answer; element by element for a vector."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, 1)

        def one(value: Number) -> Number:
            return floating(frame, value) if value.type.is_float else frame.const(whole, Type.BOOL)

        value = values[0]
        if isinstance(value, Group):
            return Group(value.shape, tuple(map(one, value.items)))
        element = require_element(frame, node, value)
        return Known(whole) if isinstance(element, Known) or not element.type.is_float else one(element)

    return handler


def _finite(frame: Frame, value: Number) -> Number:
    return frame.compute("not", frame.compute("or", frame.compute("isnan", value), frame.compute("isinf", value)))


def _abs(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 1)

    def one(elements: Sequence[Element]) -> Element:
        (value,) = elements
        if isinstance(value, Known):
            return Known(abs(int(value.number)))
        return frame.compute("abs", *arithmetic_type(frame, node, (value,)))

    return elementwise(frame, node, values, one)


def _to(type_: Type | None) -> Handler:
    """A conversion; None: to the plan's float type."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, 1)
        if isinstance(values[0], Known) and type_ is Type.I64:
            return Known(int(values[0].number))
        if isinstance(values[0], Known) and type_ is Type.BOOL:
            return Known(bool(values[0].number))
        return convert_elements(frame, node, values[0], type_ or frame.scalar)

    return handler


def _to_float(type_: Type) -> Handler:
    """NumPy's float types, where they are the plan's."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        if type_ is not frame.scalar:
            raise frame.error(
                node,
                f"a {type_.value} in a {frame.scalar.value} plan",
                fix="float(x) converts to the plan's float type",
            )
        return _to(None)(frame, node, values)

    return handler


def _log(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 1, 2)
    one = _on_floats("log", 1)
    if len(values) == 1:
        return one(frame, node, values)
    pair = (one(frame, node, values[:1]), one(frame, node, values[1:]))
    return elementwise(frame, node, pair, lambda both: binary(frame, node, "div", both[0], both[1]))


def _scaled(factor: float) -> Handler:
    """A product with a constant: degrees and radians."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, 1)
        by = frame.const(factor, frame.scalar)
        return elementwise(frame, node, values, lambda one: binary(frame, node, "mul", one[0], by))

    return handler


def _where(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 3)

    def one(elements: Sequence[Element]) -> Element:
        condition = frame.condition(node, elements[0])
        if isinstance(condition, bool):
            return elements[1 if condition else 2]
        a, b = promote(frame, node, elements[1:])
        return frame.compute("select", Number(condition), a, b)

    return elementwise(frame, node, values, one)


def _clamp(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 3)
    value, low, high = values
    return _extreme("min")(frame, node, (_extreme("max")(frame, node, (value, low)), high))


def _fma(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    return _on_floats("fma", 3)(frame, node, values)


def _square(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 1)
    return _operator("mul")(frame, node, (values[0], values[0]))


def _sign(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    """1, -1, or x itself where it is neither above nor below zero: 0 and NaN stay."""
    check_count(frame, node, values, 1)

    def one(elements: Sequence[Element]) -> Element:
        (x,) = arithmetic_type(frame, node, elements)
        zero, plus, minus = (frame.const(k, x.type) for k in (0, 1, -1))
        below = frame.compute("select", frame.compute("lt", x, zero), minus, x)
        return frame.compute("select", frame.compute("gt", x, zero), plus, below)

    return elementwise(frame, node, values, one)


def _logical(op: str) -> Handler:
    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, 1 if op == "not" else 2)

        def one(elements: Sequence[Element]) -> Element:
            conditions = [frame.condition(node, element) for element in elements]
            numbers = [frame.const(one, Type.BOOL) if isinstance(one, bool) else Number(one) for one in conditions]
            return frame.compute(op, *numbers)

        return elementwise(frame, node, values, one)

    return handler


_FLOAT_UNARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "exp2", "expm1", "log2", "log10", "log1p", "sqrt", "cbrt", "erf", "erfc"),
)

FUNCTIONS: dict[str, Handler] = {
    **VECTOR_FUNCTIONS,
    **{name: _on_floats(name, 1) for name in _FLOAT_UNARY},
    **{name: _on_floats(name, 2) for name in ("atan2", "hypot", "copysign", "fmod")},
    **{name: _on_floats(name, 1) for name in ("floor", "ceil", "trunc", "round")},
    "isnan": _test(False, lambda frame, value: frame.compute("isnan", value)),
    "isinf": _test(False, lambda frame, value: frame.compute("isinf", value)),
    **{name: _logical(name.removeprefix("logical_")) for name in ("logical_and", "logical_or", "logical_not")},
    "isfinite": _test(True, _finite),
    "pow": _float_power,
    "power": _operator("pow"),
    "mod": _operator("mod"),
    "floordiv": _operator("floordiv"),
    "minimum": _operator("min"),
    "maximum": _operator("max"),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "abs": _abs,
    "fabs": _on_floats("abs", 1),
    "int": _to(Type.I64),
    "int64": _to(Type.I64),
    "int32": _to(Type.I32),
    "uint32": _to(Type.U32),
    "float": _to(None),
    "float64": _to_float(Type.F64),
    "float32": _to_float(Type.F32),
    "bool": _to(Type.BOOL),
    "log": _log,
    "radians": _scaled(math.pi / 180.0),
    "degrees": _scaled(180.0 / math.pi),
    "where": _where,
    "clamp": _clamp,
    "fma": _fma,
    "square": _square,
    "sign": _sign,
}
