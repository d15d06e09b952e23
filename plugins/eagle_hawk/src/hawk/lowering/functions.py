"""What each function the language knows is lowered to."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from eagle_ir import Type
from hawk.annotations import LARGEST
from hawk.lowering.arithmetic import arithmetic_type, binary, promote, require_element
from hawk.lowering.frame import Frame
from hawk.lowering.values import Element, Group, Items, Known, Number, TableRef, Val, kind_name
from hawk.lowering.vectors import build, convert_elements, elementwise, group_of, product, total

__all__ = ["FUNCTIONS"]

Handler: TypeAlias = Callable[[Frame, ast.Call, Sequence[Val]], Val]


def _count(frame: Frame, node: ast.Call, values: Sequence[Val], *counts: int) -> None:
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise frame.error(
            node, f"{ast.unparse(node.func)} takes {wanted} argument{'s' * (counts != (1,))} here, not {len(values)}"
        )


def _on_floats(op: str, count: int) -> Handler:
    """An operation on floats, element by element; whole numbers become floats first."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, count)

        def one(elements: Sequence[Element]) -> Element:
            return frame.compute(op, *(frame.typed(node, element, frame.scalar) for element in elements))

        return elementwise(frame, node, values, one)

    return handler


def _operator(op: str) -> Handler:
    """An operator under the name of a function."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, 2)
        return elementwise(frame, node, values, lambda pair: binary(frame, node, op, pair[0], pair[1]))

    return handler


def _float_power(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    """``x ** y`` with x a float."""
    _count(frame, node, values, 2)
    base = convert_elements(frame, node, values[0], frame.scalar)
    return _operator("pow")(frame, node, (base, values[1]))


def _extreme(op: str) -> Handler:
    """``min`` and ``max``, of any number of numbers, or of the elements of one vector; from left to right."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        if len(values) == 1 and isinstance(values[0], Group | Items):
            values = values[0].items
        elif len(values) < 2:
            raise frame.error(node, f"{op} takes two or more numbers, or a vector")

        def two(one: Val, other: Val) -> Val:
            return elementwise(frame, node, (one, other), lambda pair: binary(frame, node, op, pair[0], pair[1]))

        return reduce(two, values)

    return handler


def _test(op: str) -> Handler:
    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, 1)

        def one(elements: Sequence[Element]) -> Element:
            (value,) = elements
            if isinstance(value, Known) or not value.type.is_float:
                return Known(False)
            return frame.compute(op, value)

        value = values[0]
        if isinstance(value, Group):
            return Group(value.shape, tuple(frame.compute(op, item) for item in value.items))
        return elementwise(frame, node, values, one)

    return handler


def _isfinite(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    value = require_element(frame, node, values[0])
    if isinstance(value, Known) or not value.type.is_float:
        return Known(True)
    odd = frame.compute("or", frame.compute("isnan", value), frame.compute("isinf", value))
    return frame.compute("not", odd)


def _abs(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)

    def one(elements: Sequence[Element]) -> Element:
        (value,) = elements
        if isinstance(value, Known):
            return Known(abs(int(value.number)))
        return frame.compute("abs", *arithmetic_type(frame, node, (value,)))

    return elementwise(frame, node, values, one)


def _to(type_: Type | None) -> Handler:
    """A conversion; None: to the plan's float type."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, 1)
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


def _len(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    value = values[0]
    if isinstance(value, Group):
        return Known(value.shape[0])
    if isinstance(value, Items):
        return Known(len(value.items))
    if isinstance(value, TableRef) and value.argument.shape[0] >= 0:
        return Known(value.argument.shape[0])
    if isinstance(value, TableRef):
        raise frame.error(
            node, f"the length of {value.argument.name} is not known", fix="Pass it as a Param[Index], or fix the axis"
        )
    raise frame.error(node, f"{kind_name(value)} has no length")


def _sum(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    if not isinstance(values[0], Group) or len(values[0].shape) != 1:
        raise frame.error(node, f"sum takes a vector here, not {kind_name(values[0])}", fix="Add the numbers with +")
    return total(frame, node, values[0].items)


def _log(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1, 2)
    one = _on_floats("log", 1)
    if len(values) == 1:
        return one(frame, node, values)
    pair = (one(frame, node, values[:1]), one(frame, node, values[1:]))
    return elementwise(frame, node, pair, lambda both: binary(frame, node, "div", both[0], both[1]))


def _scaled(factor: float) -> Handler:
    """A product with a constant: degrees and radians."""

    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, 1)
        by = frame.const(factor, frame.scalar)
        return elementwise(frame, node, values, lambda one: binary(frame, node, "mul", one[0], by))

    return handler


def _where(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 3)

    def one(elements: Sequence[Element]) -> Element:
        condition = frame.condition(node, elements[0])
        if isinstance(condition, bool):
            return elements[1 if condition else 2]
        a, b = promote(frame, node, elements[1:])
        return frame.compute("select", Number(condition), a, b)

    return elementwise(frame, node, values, one)


def _clamp(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 3)
    value, low, high = values
    return _extreme("min")(frame, node, (_extreme("max")(frame, node, (value, low)), high))


def _fma(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    return _on_floats("fma", 3)(frame, node, values)


def _square(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    return _operator("mul")(frame, node, (values[0], values[0]))


def _sign(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    """1, -1, or x itself where it is neither above nor below zero: 0 and NaN stay."""
    _count(frame, node, values, 1)

    def one(elements: Sequence[Element]) -> Element:
        (x,) = arithmetic_type(frame, node, elements)
        zero, plus, minus = (frame.const(k, x.type) for k in (0, 1, -1))
        below = frame.compute("select", frame.compute("lt", x, zero), minus, x)
        return frame.compute("select", frame.compute("gt", x, zero), plus, below)

    return elementwise(frame, node, values, one)


def _logical(op: str) -> Handler:
    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, 1 if op == "not" else 2)

        def one(elements: Sequence[Element]) -> Element:
            conditions = [frame.condition(node, element) for element in elements]
            numbers = [frame.const(one, Type.BOOL) if isinstance(one, bool) else Number(one) for one in conditions]
            return frame.compute(op, *numbers)

        return elementwise(frame, node, values, one)

    return handler


def _vector_pair(frame: Frame, node: ast.Call, values: Sequence[Val], size: int | None = None) -> tuple[Group, Group]:
    _count(frame, node, values, 2)
    one, two = values
    if not isinstance(one, Group) or not isinstance(two, Group) or (size and (one.shape, two.shape) != ((size,),) * 2):
        what = "two vectors" if size is None else f"two vectors of {size}"
        raise frame.error(node, f"{ast.unparse(node.func)} takes {what}, not {kind_name(one)} and {kind_name(two)}")
    return one, two


def _dot(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    return product(frame, node, *_vector_pair(frame, node, values))


def _cross(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    a, b = (one.items for one in _vector_pair(frame, node, values, 3))

    def part(i: int, j: int) -> Element:
        return binary(
            frame, node, "sub", binary(frame, node, "mul", a[i], b[j]), binary(frame, node, "mul", a[j], b[i])
        )

    return group_of(frame, node, (3,), [part(1, 2), part(2, 0), part(0, 1)])


def _norm(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    value = values[0]
    if not isinstance(value, Group):
        raise frame.error(node, f"norm takes a vector, not {kind_name(value)}", fix="For a number use abs")
    flat = Group((len(value.items),), value.items)
    squared = require_element(frame, node, product(frame, node, flat, flat))
    return frame.compute("sqrt", frame.typed(node, squared, frame.scalar))


def _array(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    value = values[0]
    if isinstance(value, Group):
        return value
    if isinstance(value, Items):
        return build(frame, node, value.items)
    raise frame.error(node, f"{kind_name(value)} makes no vector", fix="Write np.array([a, b, c])")


def _filled(number: float) -> Handler:
    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        _count(frame, node, values, 1)
        sizes = values[0].items if isinstance(values[0], Items) else (values[0],)
        shape = tuple(int(one.number) for one in sizes if isinstance(one, Known) and not one.is_bool)
        if len(shape) != len(sizes) or len(shape) not in (1, 2) or not 0 < math.prod(shape) <= LARGEST:
            raise frame.error(node, "the shape is one or two whole constants", fix=f"With at most {LARGEST} elements")
        return Group(shape, (frame.const(number, frame.scalar),) * math.prod(shape))

    return handler


def _eye(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    _count(frame, node, values, 1)
    size = values[0]
    if not isinstance(size, Known) or not 0 < size.number <= math.isqrt(LARGEST):
        raise frame.error(node, "the size is a whole constant", fix=f"At most {math.isqrt(LARGEST)}")
    one, zero = frame.const(1.0, frame.scalar), frame.const(0.0, frame.scalar)
    count = int(size.number)
    return Group((count, count), tuple(one if i == j else zero for i in range(count) for j in range(count)))


def _vector(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    return build(frame, node, values)


_FLOAT_UNARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "exp2", "expm1", "log2", "log10", "log1p", "sqrt", "cbrt", "erf", "erfc"),
)

FUNCTIONS: dict[str, Handler] = {
    **{name: _on_floats(name, 1) for name in _FLOAT_UNARY},
    **{name: _on_floats(name, 2) for name in ("atan2", "hypot", "copysign", "fmod")},
    **{name: _on_floats(name, 1) for name in ("floor", "ceil", "trunc", "round")},
    **{name: _test(name) for name in ("isnan", "isinf")},
    **{name: _logical(name.removeprefix("logical_")) for name in ("logical_and", "logical_or", "logical_not")},
    "isfinite": _isfinite,
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
    "len": _len,
    "sum": _sum,
    "log": _log,
    "radians": _scaled(math.pi / 180.0),
    "degrees": _scaled(180.0 / math.pi),
    "where": _where,
    "clamp": _clamp,
    "fma": _fma,
    "square": _square,
    "sign": _sign,
    "dot": _dot,
    "matmul": _dot,
    "cross": _cross,
    "norm": _norm,
    "array": _array,
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "eye": _eye,
    "vector": _vector,
    "matrix": _vector,
}
