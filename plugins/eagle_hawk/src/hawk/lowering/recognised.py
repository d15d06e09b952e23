"""Which objects of Python, math and NumPy the language knows, by identity: whatever a program calls them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator

import numpy as np

from hawk import math as own

__all__ = ["name_of"]

_NUMPY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "round": "rint",
    "clamp": "clip",
    "power": "power",
    "abs": "absolute",
    "int32": "int32",
    "uint32": "uint32",
    "int64": "int64",
    "float64": "float64",
    "float32": "float32",
    "array": "array",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_not": "logical_not",
    "square": "square",
    "sign": "sign",
    "mod": "remainder",
    "floordiv": "floor_divide",
    "bool": "bool_",
    "matmul": "matmul",
}
_BOTH = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sqrt", "cbrt", "hypot", "floor", "ceil", "trunc", "fabs", "copysign", "fmod", "isnan", "isinf", "isfinite"),
    *("radians", "degrees"),
)
_IN_NUMPY = (*_BOTH, "minimum", "maximum", "where", "dot", "cross", "zeros", "ones", "eye")
_IN_MATH = (
    *_BOTH,
    *("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "pow", "erf", "erfc", "fma"),
)
_BUILTINS = ("abs", "min", "max", "pow", "round", "int", "float", "bool", "len", "sum", "range")


def _pairs() -> Iterator[tuple[object, str]]:
    for name in _BUILTINS:
        yield getattr(builtins, name), {"pow": "power"}.get(name, name)
    for name in _IN_MATH:
        if hasattr(math, name):
            yield getattr(math, name), name
    for name, theirs in [*_NUMPY.items(), *((one, one) for one in _IN_NUMPY)]:
        yield getattr(np, theirs), name
    yield from ((np.deg2rad, "radians"), (np.rad2deg, "degrees"), (np.round, "round"), (np.linalg.norm, "norm"))
    for name in own.__all__:
        thing = getattr(own, name)
        if isinstance(thing, own.MathFunction):
            yield thing, name


_NAMES: dict[int, tuple[object, str]] = {id(thing): (thing, name) for thing, name in _pairs()}


def name_of(thing: object) -> str | None:
    """Return what the language calls an object, or None."""
    found = _NAMES.get(id(thing))
    return None if found is None else found[1]
