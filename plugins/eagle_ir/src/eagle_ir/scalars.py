"""Every operation on NumPy scalars, as the rules for numbers say it: one rule for every backend."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from eagle_ir.types import Type

__all__ = ["OverflowFault", "ZeroDivisionFault", "apply", "scalar"]


class ZeroDivisionFault(ZeroDivisionError):
    """An integer divided by zero. The result then is 0."""


class OverflowFault(OverflowError):
    """A float that fits in no integer of the type wanted."""


def scalar(number: Any, type_: Type) -> Any:
    """Return `number` as NumPy's scalar of a type; an integer wraps."""
    if type_.is_integer:
        number = int(number) & (2**type_.bits - 1)
        if type_.is_signed and number >> (type_.bits - 1):
            number -= 2**type_.bits
    return type_.dtype.type(number)


def apply(op: str, operands: tuple[Any, ...], result: Type, math_functions: dict[str, Callable[..., Any]]) -> Any:
    """Return the result of an operation of `eagle_ir.operations` on NumPy scalars.

    Parameters
    ----------
    op : str
    operands : tuple of NumPy scalars
    result : Type
    math_functions : dict
        The transcendentals, by name: each takes and returns float64 or float32 scalars.

    Raises
    ------
    ZeroDivisionFault, OverflowFault
        It faults.
    """
    first = operands[0]
    with np.errstate(all="ignore"):
        if op == "convert":
            return _convert(first, result)
        if op == "select":
            return operands[1] if first else operands[2]
        if op in _COMPARISONS:
            return np.bool_(_COMPARISONS[op](*operands))
        if op in _INTEGER and isinstance(first, (np.integer, np.bool_)):
            return scalar(_INTEGER[op](result, *map(int, operands)), result)
        if op in _FLOAT:
            return result.dtype.type(_FLOAT[op](*operands))
        return result.dtype.type(math_functions[op](*operands))


def _convert(value: Any, result: Type) -> Any:
    if result is Type.BOOL:
        return np.bool_(value != 0)
    if isinstance(value, np.floating) and result.is_integer:
        low, high = (-(2 ** (result.bits - 1)), 2 ** (result.bits - 1)) if result.is_signed else (0, 2**result.bits)
        if not math.isfinite(value) or not low <= math.trunc(float(value)) < high:
            raise OverflowFault(f"{value} does not fit in {result.value}")
        return scalar(math.trunc(float(value)), result)
    return scalar(value, result) if result.is_integer else result.dtype.type(value)


def _floordiv(result: Type, a: int, b: int) -> int:
    if b == 0:
        raise ZeroDivisionFault("integer division by zero")
    return a // b


def _mod(result: Type, a: int, b: int) -> int:
    if b == 0:
        raise ZeroDivisionFault("integer modulo by zero")
    return a % b


def _shl(result: Type, a: int, b: int) -> int:
    return a << b if 0 <= b < result.bits else 0


def _shr(result: Type, a: int, b: int) -> int:
    return a >> (b if 0 <= b < result.bits else result.bits)


def _fma(a: Any, b: Any, c: Any) -> Any:
    """Round a * b + c once, by exact rational arithmetic."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return a * b + c
    if not math.isfinite(c):
        return c  # the product is finite, however large
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c
    return _nearest(exact, type(a))


def _nearest(exact: Fraction, kind: Any) -> Any:
    """Return the float of `kind` nearest to a fraction, half to even."""
    try:
        near = float(exact)
    except OverflowError:
        return kind(math.inf if exact > 0 else -math.inf)
    if kind is np.float32 and Fraction(near) != exact and not np.float64(near).view(np.int64) & 1:
        # Rounding twice may meet a tie of float32 that the exact value is not on; an odd last bit keeps off all ties.
        near = float(np.nextafter(near, math.inf if exact > near else -math.inf))
    return kind(near)


def _minimum(a: Any, b: Any) -> Any:
    if np.isnan(a) or np.isnan(b):
        return a + b
    if a == b:
        return a if np.signbit(a) else b
    return a if a < b else b


def _maximum(a: Any, b: Any) -> Any:
    if np.isnan(a) or np.isnan(b):
        return a + b
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "isnan": np.isnan,
    "isinf": np.isinf,
}

_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda result, a, b: a + b,
    "sub": lambda result, a, b: a - b,
    "mul": lambda result, a, b: a * b,
    "neg": lambda result, a: -a,
    "abs": lambda result, a: abs(a),
    "floordiv": _floordiv,
    "mod": _mod,
    "min": lambda result, a, b: min(a, b),
    "max": lambda result, a, b: max(a, b),
    "and": lambda result, a, b: a & b,
    "or": lambda result, a, b: a | b,
    "xor": lambda result, a, b: a ^ b,
    "not": lambda result, a: 1 - a if result is Type.BOOL else ~a,
    "shl": _shl,
    "shr": _shr,
}

_FLOAT: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "fma": _fma,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "copysign": np.copysign,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "fmod": np.fmod,
    "min": _minimum,
    "max": _maximum,
}
