"""What the functions a kernel may call compute, and what vectors are."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from kernel_numbers import Arithmetic, Number

TRANSCENDENTALS = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2"),
    *("expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc", "pow", "atan2", "hypot"),
)
ALIASES = {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")} | {
    "absolute": "abs",
    "minimum": "min",
    "maximum": "max",
    "rint": "round",
    "clip": "clamp",
    "matmul": "dot",
    "deg2rad": "radians",
    "rad2deg": "degrees",
}
OPERATORS = {"remainder": "%", "floor_divide": "//", "min": "min", "max": "max"}
CONVERSIONS: dict[str, Any] = {
    "Int32": np.int32,
    "UInt32": np.uint32,
    "Index": np.int64,
    "Bool": np.bool_,
    "Scalar": None,
    "int": np.int64,
    "float": None,
    "bool": np.bool_,
    "bool_": np.bool_,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
}
LITERAL = ("int", "int64", "bool", "bool_")


@dataclass(frozen=True)
class Vector:
    """A vector, or a matrix in row-major order."""

    shape: tuple[int, ...]
    items: Sequence[Number]

    @property
    def places(self) -> np.ndarray:
        return np.arange(len(self.items)).reshape(self.shape)

    @property
    def transposed(self) -> Vector:
        places = self.places.T
        return Vector(places.shape, [self.items[place] for place in places.ravel()])

    def at(self, indices: tuple[Any, ...]) -> Any:
        """An element, a row, or a slice."""
        places = np.asarray(self.places[indices])
        found = [self.items[place] for place in places.ravel()]
        return Vector(places.shape, found) if places.ndim else found[0]

    def replaced(self, indices: tuple[Any, ...], value: Any) -> Vector:
        places = np.asarray(self.places[indices]).ravel()
        items = list(self.items)
        given = (
            value.items if isinstance(value, Vector) else value if isinstance(value, tuple) else [value] * len(places)
        )
        for place, item in zip(places, given, strict=True):
            items[place] = item
        return Vector(self.shape, items)

    @property
    def rows(self) -> list[Any]:
        return [self.at((number,)) for number in range(self.shape[0])]


class Calls:
    """The functions of the language, over one arithmetic."""

    def __init__(self, numbers: Arithmetic) -> None:
        self.numbers = numbers

    def call(self, function: Any, values: Sequence[Any]) -> Any:
        name = "power" if function is builtins.pow else str(getattr(function, "__name__", None) or function.text)
        if name in CONVERSIONS:
            return self.elementwise(lambda item: self.converted(name, item), *values)
        name = ALIASES.get(name, name)
        own = getattr(self, f"call_{name}", None)
        if own is not None:
            return own(*values)
        if name in ("min", "max"):
            return self.extreme(name, values)
        return self.elementwise(lambda *items: self.number(name, items), *values)

    def converted(self, name: str, value: Number) -> Number:
        if isinstance(value, int) and name in LITERAL:
            return bool(value) if name.startswith("bool") else int(value)
        return self.numbers.to(value, CONVERSIONS[name] or self.numbers.real)

    def number(self, name: str, values: Sequence[Number]) -> Number:
        """A function of numbers."""
        numbers, whole = self.numbers, not isinstance(values[0], np.floating)
        if name == "pow":
            return numbers.power(numbers.to(values[0], numbers.real), values[1])
        if name in TRANSCENDENTALS:
            return numbers.transcendental(name, *values)
        if name == "power":
            return numbers.power(*values)
        if name in ("floor", "ceil", "trunc", "round") and whole:
            return values[0]
        if name in ("isnan", "isinf", "isfinite") and whole:
            return name == "isfinite"
        if name == "abs":
            return abs(int(values[0])) if isinstance(values[0], int) else numbers.apply("abs", values[0])
        if name in OPERATORS:
            return numbers.operator(OPERATORS[name], *values)
        return numbers.real_apply({"fabs": "abs"}.get(name, name), *values)

    def extreme(self, name: str, values: Sequence[Any]) -> Any:
        if len(values) == 1:
            values = values[0].items if isinstance(values[0], Vector) else values[0]
        result = values[0]
        for value in values[1:]:
            result = self.elementwise(lambda a, b: self.numbers.operator(name, a, b), result, value)
        return result

    def call_log(self, value: Any, base: Any = None) -> Any:
        found = self.elementwise(lambda item: self.numbers.transcendental("log", item), value)
        if base is None:
            return found
        return self.elementwise(lambda a, b: self.numbers.real_apply("/", a, b), found, self.call_log(base))

    def call_radians(self, value: Any) -> Any:
        return self.times(value, self.numbers.real(math.pi / 180.0))

    def call_degrees(self, value: Any) -> Any:
        return self.times(value, self.numbers.real(180.0 / math.pi))

    def call_square(self, value: Any) -> Any:
        return self.times(value, value)

    def call_clamp(self, value: Any, low: Any, high: Any) -> Any:
        return self.extreme("min", (self.extreme("max", (value, low)), high))

    def call_sign(self, value: Any) -> Any:
        """1 or -1, or the number itself where it is neither above nor below zero."""

        def one(item: Number) -> Number:
            (number,) = self.numbers.together(item)
            return type(number)(1 if number > 0 else -1) if number > 0 or number < 0 else number

        return self.elementwise(one, value)

    def times(self, a: Any, b: Any) -> Any:
        return self.elementwise(lambda x, y: self.numbers.operator("*", x, y), a, b)

    # vectors

    def vector(self, items: Sequence[Any], shape: tuple[int, ...] | None = None) -> Vector:
        """Numbers as a vector, or vectors as a matrix, in the one type they have together."""
        rows = [self.vector(item) if isinstance(item, tuple) else item for item in items]
        if rows and isinstance(rows[0], Vector):
            flat = [item for row in rows for item in row.items]
            return self.vector(flat, (len(rows), *rows[0].shape))
        return Vector(shape or (len(rows),), self.numbers.together(*rows, bools=True))

    def elementwise(self, function: Callable[..., Any], *values: Any) -> Any:
        """A function of numbers on each element; numbers go with every one."""
        vectors = [value for value in values if isinstance(value, Vector)]
        if not vectors:
            return function(*values)
        shape = vectors[0].shape
        assert all(one.shape == shape for one in vectors)
        picked = [value.items if isinstance(value, Vector) else [value] * len(vectors[0].items) for value in values]
        return self.vector([function(*items) for items in zip(*picked, strict=True)], shape)

    def matmul(self, a: Vector, b: Vector) -> Any:
        rows = a.rows if len(a.shape) == 2 else [a]
        columns = b.transposed.rows if len(b.shape) == 2 else [b]
        found = [self.call_dot(row, column) for row in rows for column in columns]
        shape = a.shape[:-1] + b.shape[1:]
        return self.vector(found, shape) if shape else found[0]

    def call_dot(self, a: Vector, b: Vector) -> Any:
        if len(a.shape) == 2 or len(b.shape) == 2:
            return self.matmul(a, b)
        return self.call_sum(self.times(a, b))

    def call_sum(self, value: Vector) -> Number:
        result = value.items[0]
        for item in value.items[1:]:
            result = self.numbers.operator("+", result, item)
        return result

    def call_norm(self, value: Vector) -> Number:
        flat = Vector((len(value.items),), value.items)
        return self.numbers.real_apply("sqrt", self.call_dot(flat, flat))

    def call_cross(self, a: Vector, b: Vector) -> Vector:
        def part(i: int, j: int) -> Number:
            products = self.times(a.items[i], b.items[j]), self.times(a.items[j], b.items[i])
            return self.numbers.operator("-", *products)

        return self.vector([part(1, 2), part(2, 0), part(0, 1)])

    def call_vector(self, *items: Any) -> Vector:
        return self.vector(items)

    call_matrix = call_vector

    def call_array(self, items: Any) -> Vector:
        return items if isinstance(items, Vector) else self.vector(items)

    def call_zeros(self, shape: Any) -> Vector:
        places = np.zeros(shape)
        return Vector(places.shape, [self.numbers.real(0)] * places.size)

    def unified(self, value: Any, other: Any) -> Any:
        """A value in the type it has together with what another path gives."""
        if isinstance(value, tuple):
            return tuple(self.unified(one, two) for one, two in zip(value, other, strict=True))
        if isinstance(value, Vector):
            pairs = zip(value.items, other.items, strict=True)
            return Vector(value.shape, [self.unified(one, two) for one, two in pairs])
        if type(value) is int and type(other) is int:
            return value if value == other else self.numbers.to(value, np.int64)
        return self.numbers.together(value, other, bools=True)[0]

    def call_where(self, condition: Any, then: Any, orelse: Any) -> Any:
        def one(test: Number, a: Number, b: Number) -> Number:
            return self.unified(*((a, b) if test != 0 else (b, a)))

        return self.elementwise(one, condition, then, orelse)

    def call_len(self, value: Any) -> int:
        return value.shape[0] if isinstance(value, Vector) else len(value)
