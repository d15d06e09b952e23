"""What generated kernels are made of: arguments, helpers, constants and functions."""

from __future__ import annotations

import numpy as np

LENGTH, ROWS, COLUMNS = 6, 3, 4
HEADER = """\
import math

import numpy as np

import hawk
from hawk import *
from hawk.math import clamp, cross, dot, fma, norm, where

TENTH = 0.1
THREE = 3
OFFSETS = (0.5, -2.0)


def blend(a, b, weight):
    return a + (b - a) * weight


def grown(start, count):
    value = start
    for step in range(count):
        if value > 1e6:
            return value
        value = value * 1.5 + step
    return value


@hawk.kernel
def hypotenuse(a: Scalar, b: Scalar):
    return math.sqrt(a * a + b * b)


@hawk.kernel
def bumped(a: Mutable[Scalar], k: Mutable[Int32], by: Scalar):
    a += by
    k = k * 2 + 1
    return a * k


"""
ARGUMENTS = {
    "x": "Scalar",
    "y": "Scalar",
    "i": "Int32",
    "k": "UInt32",
    "j": "Index",
    "b": "Bool",
    "v": "Vector[3]",
    "M": "Matrix[2, 3]",
    "q": "Quat",
    "m": "Mutable[Scalar]",
    "w": "Mutable[Vector[2]]",
    "c": "Mutable[Int32]",
    "u": "Mutable[UInt32]",
    "f": "Mutable[Bool]",
    "p": "Param",
    "s": "Param[Int32]",
    "t": "Table[Scalar]",
    "g": f"Table[Int32, {ROWS}, {COLUMNS}]",
    "terminated": "Terminated",
}
TYPES = {"x": "F", "y": "F", "m": "F", "p": "F", "i": "I", "c": "I", "s": "I", "k": "U", "u": "U", "j": "J"}
TYPES |= {"b": "B", "f": "B", "v": "V3", "w": "V2", "terminated": "B"}
WRITABLE = ("m", "w", "c", "u", "f", "terminated")
FLOATS = (
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "-2.5",
    "1e-3",
    "3.0e7",
    "1e300",
    "5e-324",
    "TENTH",
    "math.pi",
    "math.inf",
    "np.nan",
)
SMALL = ("0", "1", "2", "3", "-1", "7", "31", "32", "THREE")
LARGE = {"I": "2147483647", "U": "4294967295", "J": "9223372036854775807"}
EXACT = ("math.sqrt", "np.sqrt", "np.floor", "np.ceil", "np.trunc", "abs", "math.fabs", "np.rint")
SMOOTH = (
    "math.sin",
    "np.cos",
    "math.exp",
    "np.arctan",
    "math.erf",
    "hawk.math.log",
    "np.cbrt",
    "np.expm1",
    "math.tanh",
)
KINDS = {"I": np.int32, "U": np.uint32, "J": np.int64}
CONVERSIONS = {"I": "Int32", "U": "UInt32", "J": "Index"}
