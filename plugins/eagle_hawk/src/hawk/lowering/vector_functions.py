"""What each function of vectors that the language knows is lowered to."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from hawk.annotations import LARGEST
from hawk.lowering.arithmetic import binary, require_element
from hawk.lowering.frame import Frame
from hawk.lowering.values import Element, Group, Items, Known, TableRef, Val, kind_name
from hawk.lowering.vectors import build, group_of, product, total

__all__ = ["VECTOR_FUNCTIONS", "Handler", "check_count"]

Handler: TypeAlias = Callable[[Frame, ast.Call, Sequence[Val]], Val]


def check_count(frame: Frame, node: ast.Call, values: Sequence[Val], *counts: int) -> None:
    """Refuse a call with another number of arguments."""
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise frame.error(
            node, f"{ast.unparse(node.func)} takes {wanted} argument{'s' * (counts != (1,))} here, not {len(values)}"
        )


def _len(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 1)
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
    check_count(frame, node, values, 1)
    if not isinstance(values[0], Group) or len(values[0].shape) != 1:
        raise frame.error(node, f"sum takes a vector here, not {kind_name(values[0])}", fix="Add the numbers with +")
    return total(frame, node, values[0].items)


def _vector_pair(frame: Frame, node: ast.Call, values: Sequence[Val], size: int | None = None) -> tuple[Group, Group]:
    check_count(frame, node, values, 2)
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
    check_count(frame, node, values, 1)
    value = values[0]
    if not isinstance(value, Group):
        raise frame.error(node, f"norm takes a vector, not {kind_name(value)}", fix="For a number use abs")
    flat = Group((len(value.items),), value.items)
    squared = require_element(frame, node, product(frame, node, flat, flat))
    return frame.compute("sqrt", frame.typed(node, squared, frame.scalar))


def _array(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 1)
    value = values[0]
    if isinstance(value, Group):
        return value
    if isinstance(value, Items):
        return build(frame, node, value.items)
    raise frame.error(node, f"{kind_name(value)} makes no vector", fix="Write np.array([a, b, c])")


def _filled(number: float) -> Handler:
    def handler(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
        check_count(frame, node, values, 1)
        sizes = values[0].items if isinstance(values[0], Items) else (values[0],)
        shape = tuple(int(one.number) for one in sizes if isinstance(one, Known) and not one.is_bool)
        if len(shape) != len(sizes) or len(shape) not in (1, 2) or not 0 < math.prod(shape) <= LARGEST:
            raise frame.error(node, "the shape is one or two whole constants", fix=f"With at most {LARGEST} elements")
        return Group(shape, (frame.const(number, frame.scalar),) * math.prod(shape))

    return handler


def _eye(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    check_count(frame, node, values, 1)
    size = values[0]
    if not isinstance(size, Known) or not 0 < size.number <= math.isqrt(LARGEST):
        raise frame.error(node, "the size is a whole constant", fix=f"At most {math.isqrt(LARGEST)}")
    one, zero = frame.const(1.0, frame.scalar), frame.const(0.0, frame.scalar)
    count = int(size.number)
    return Group((count, count), tuple(one if i == j else zero for i in range(count) for j in range(count)))


def _vector(frame: Frame, node: ast.Call, values: Sequence[Val]) -> Val:
    return build(frame, node, values)


VECTOR_FUNCTIONS: dict[str, Handler] = {
    "len": _len,
    "sum": _sum,
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
