"""The functions of the kernel language under one roof.

Inside a kernel each becomes an operation of the IR. Outside they compute on floats and NumPy arrays, by NumPy.
"""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any

import numpy as np

from eagle_ir import Type
from eagle_ir.scalars import apply

__all__ = [
    "MathFunction",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clamp",
    "copysign",
    "cos",
    "cosh",
    "cross",
    "dot",
    "e",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "fma",
    "fmod",
    "hypot",
    "inf",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "maximum",
    "minimum",
    "nan",
    "norm",
    "pi",
    "pow",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tau",
    "trunc",
    "where",
]


class MathFunction:
    """A function of the language, by name; called outside a kernel it computes with NumPy."""

    def __init__(self, name: str, meaning: str, outside: Callable[..., Any]) -> None:
        self.__name__ = name
        self.__doc__ = meaning
        self._outside = outside

    def __repr__(self) -> str:
        return f"hawk.math.{self.__name__}"

    def __call__(self, *values: Any) -> Any:
        """Compute on numbers or arrays, outside a kernel."""
        return self._outside(*values)


def _fma(a: Any, b: Any, c: Any) -> Any:
    kind = np.result_type(a, b, c)
    single = kind == np.float32
    type_, dtype = (Type.F32, np.float32) if single else (Type.F64, np.float64)
    return apply("fma", (dtype(a), dtype(b), dtype(c)), type_, {})


def _clamp(value: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(value, low), high)


def _of(scalar: Callable[[float], float]) -> Callable[[Any], Any]:
    whole = np.vectorize(scalar, otypes=[float])
    return lambda value: whole(value) if np.ndim(value) else np.float64(scalar(float(value)))


sin = MathFunction("sin", "Sine.", np.sin)
cos = MathFunction("cos", "Cosine.", np.cos)
tan = MathFunction("tan", "Tangent.", np.tan)
asin = MathFunction("asin", "Inverse sine.", np.arcsin)
acos = MathFunction("acos", "Inverse cosine.", np.arccos)
atan = MathFunction("atan", "Inverse tangent.", np.arctan)
atan2 = MathFunction("atan2", "Angle of the point (x, y), given y first.", np.arctan2)
sinh = MathFunction("sinh", "Hyperbolic sine.", np.sinh)
cosh = MathFunction("cosh", "Hyperbolic cosine.", np.cosh)
tanh = MathFunction("tanh", "Hyperbolic tangent.", np.tanh)
asinh = MathFunction("asinh", "Inverse hyperbolic sine.", np.arcsinh)
acosh = MathFunction("acosh", "Inverse hyperbolic cosine.", np.arccosh)
atanh = MathFunction("atanh", "Inverse hyperbolic tangent.", np.arctanh)
exp = MathFunction("exp", "e**x.", np.exp)
exp2 = MathFunction("exp2", "2**x.", np.exp2)
expm1 = MathFunction("expm1", "e**x - 1, exact near 0.", np.expm1)
log = MathFunction("log", "Natural logarithm.", np.log)
log2 = MathFunction("log2", "Logarithm to base 2.", np.log2)
log10 = MathFunction("log10", "Logarithm to base 10.", np.log10)
log1p = MathFunction("log1p", "log(1 + x), exact near 0.", np.log1p)
sqrt = MathFunction("sqrt", "Square root, correctly rounded.", np.sqrt)
cbrt = MathFunction("cbrt", "Cube root.", np.cbrt)
pow = MathFunction("pow", "x**y with x a float; multiplications where y is a constant whole number up to 64.", np.power)  # noqa: A001
hypot = MathFunction("hypot", "sqrt(x*x + y*y) without overflow.", np.hypot)
erf = MathFunction("erf", "Error function.", _of(_math.erf))
erfc = MathFunction("erfc", "1 - erf(x).", _of(_math.erfc))
floor = MathFunction("floor", "The largest whole number not above x, as a float.", np.floor)
ceil = MathFunction("ceil", "The smallest whole number not below x, as a float.", np.ceil)
trunc = MathFunction("trunc", "x without its fraction, as a float.", np.trunc)
round = MathFunction("round", "The nearest whole number, half to even, as a float.", np.rint)  # noqa: A001
fabs = MathFunction("fabs", "|x| as a float.", np.fabs)
copysign = MathFunction("copysign", "|x| with the sign of y.", np.copysign)
fmod = MathFunction("fmod", "The remainder with the sign of x, as in C.", np.fmod)
minimum = MathFunction("minimum", "The smaller; NaN if either is.", np.minimum)
maximum = MathFunction("maximum", "The larger; NaN if either is.", np.maximum)
isnan = MathFunction("isnan", "Whether x is NaN.", np.isnan)
isinf = MathFunction("isinf", "Whether x is infinite.", np.isinf)
isfinite = MathFunction("isfinite", "Whether x is neither NaN nor infinite.", np.isfinite)
where = MathFunction("where", "x if the condition holds, else y; both are computed.", np.where)
fma = MathFunction("fma", "a * b + c, rounded once.", _fma)
clamp = MathFunction("clamp", "min(max(x, low), high); NaN stays NaN.", _clamp)
dot = MathFunction("dot", "The sum of the products, from left to right.", np.dot)
cross = MathFunction("cross", "The cross product of two vectors of three.", np.cross)
norm = MathFunction("norm", "sqrt(dot(v, v)).", np.linalg.norm)

pi, tau, e, inf, nan = _math.pi, _math.tau, _math.e, _math.inf, _math.nan
