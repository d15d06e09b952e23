"""What the functions a kernel may call compute, and what vectors are."""

from __future__ import annotations

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
    "fabs": "abs",
    "power": "pow",
    "float_power": "pow",
    "minimum": "min",
    "maximum": "max",
    "rint": "round",
    "around": "round",
    "remainder": "mod",
}
CONVERSIONS: dict[str, Any] = {
    "Int32": np.int32,
    "UInt32": np.uint32,
    "Index": np.int64,
    "Bool": np.bool_,
    "int": np.int64,
}
CONVERSIONS |= {"bool": np.bool_, "float": None, "Scalar": None}


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

    def call(self, function: Any, values: Sequence[Any], named: dict[str, Any]) -> Any:
        name = str(getattr(function, "__name__", None) or getattr(function, "text", function))
        if name in CONVERSIONS:
            kind = CONVERSIONS[name] or self.numbers.real
            return self.elementwise(lambda item: self.numbers.to(item, kind), *values)
        name = ALIASES.get(name, name)
        own = getattr(self, f"call_{name}", None)
        if own is not None:
            return own(*values, **named)
        return self.elementwise(lambda *items: self.number(name, items), *values)

    def number(self, name: str, values: Sequence[Number]) -> Number:
        """A function of numbers."""
        numbers = self.numbers
        if name in TRANSCENDENTALS:
            return numbers.power(*values) if name == "pow" else numbers.transcendental(name, *values)
        if name in ("min", "max"):
            result = values[0]
            for value in values[1:]:
                result = self.extreme(name, result, value)
            return result
        if name == "abs":
            return abs(values[0]) if isinstance(values[0], int) else numbers.apply("abs", values[0])
        return numbers.real_apply(name, *values)

    def extreme(self, name: str, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b) if name == "min" else max(a, b)
        return self.numbers.apply(name, a, b)

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

    def call_dot(self, a: Vector, b: Vector) -> Number:
        if len(a.shape) == 2 or len(b.shape) == 2:
            return self.matmul(a, b)
        return self.total([self.numbers.apply("*", x, y) for x, y in zip(a.items, b.items, strict=True)])

    def total(self, items: Sequence[Number]) -> Number:
        result = items[0]
        for item in items[1:]:
            result = self.numbers.apply("+", result, item)
        return result

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
