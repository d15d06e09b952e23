"""The rules for numbers in kernels, as one small table of operations on NumPy scalars.

A number is a NumPy scalar, or a Python int that has no type yet: a literal, which takes the type of what it meets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

Number: TypeAlias = Any
LONGEST_POWER = 64


class Fault(Exception):
    """What retires a sample.

    Attributes
    ----------
    kind : type
        `IndexError`, `ZeroDivisionError` or `OverflowError`.
    """

    def __init__(self, kind: type[Exception]) -> None:
        super().__init__(kind.__name__)
        self.kind = kind


def nearest(exact: Fraction, kind: Any) -> Any:
    """The float nearest to a fraction that is not 0, half to even, by looking at its bits: no float rounds here."""
    bits, lowest, highest = (53, -1074, 1024) if kind is np.float64 else (24, -149, 128)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - bits + 1, lowest)
    whole, rest = divmod(size / unit, 1)
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    value = math.inf if whole * unit >= Fraction(2) ** highest else float(whole * unit)
    return kind(value if exact > 0 else -value)


def fma(a: Any, b: Any, c: Any) -> Any:
    if math.isfinite(a) and math.isfinite(b) and math.isfinite(c) and a != 0 and b != 0:
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        return nearest(exact, type(a)) if exact else type(a)(0)
    if math.isfinite(a) and math.isfinite(b) and not math.isfinite(c):
        return c
    return a * b + c


def minimum(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return a if np.signbit(a) else b
    return a if a < b else b


def maximum(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


def float_divmod(a: Any, b: Any) -> tuple[Any, Any]:
    """Floor of the quotient and remainder, by the algorithm NumPy documents over C's fmod."""
    kind = type(a)
    rest = np.fmod(a, b)
    if b == 0:
        return a / b, rest
    quotient = (a - rest) / b
    if rest != 0:
        if (b < 0) != (rest < 0):
            rest = rest + b
            quotient = quotient - kind(1)
    else:
        rest = np.copysign(kind(0), b)
    if quotient != 0:
        whole = np.floor(quotient)
        if quotient - whole > kind(0.5):
            whole = whole + kind(1)
    else:
        whole = np.copysign(kind(0), a / b)
    return whole, rest


def divisor(b: Any) -> Any:
    if b == 0:
        raise Fault(ZeroDivisionError)
    return b


def typed(value: Any, kind: Any) -> Any:
    """A number in another type: integers wrap, a float that fits in no integer of the type faults."""
    if kind is np.bool_:
        return np.bool_(value != 0)
    if isinstance(value, (float, np.floating)) and issubclass(kind, np.integer):
        limits = np.iinfo(kind)
        if not math.isfinite(value) or not limits.min <= int(value) <= limits.max:
            raise Fault(OverflowError)
        return kind(int(value))
    if isinstance(value, int) and issubclass(kind, np.integer):
        span = np.iinfo(kind)
        return kind((int(value) - span.min) % (span.max - span.min + 1) + span.min)
    return np.asarray(value).astype(kind)[()]


BOTH: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "neg": np.negative,
    "abs": np.absolute,
}
INTEGER: dict[str, Callable[..., Any]] = BOTH | {
    "//": lambda a, b: np.floor_divide(a, divisor(b)),
    "%": lambda a, b: np.remainder(a, divisor(b)),
    "min": lambda a, b: a if a <= b else b,
    "max": lambda a, b: a if a >= b else b,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "~": np.invert,
}
FLOAT: dict[str, Callable[..., Any]] = BOTH | {
    "/": np.divide,
    "//": lambda a, b: float_divmod(a, b)[0],
    "%": lambda a, b: float_divmod(a, b)[1],
    "min": minimum,
    "max": maximum,
    "fma": fma,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
OF_BOOLS = ("&", "|", "^", "==", "!=")
LITERALS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "min": min,
    "max": max,
}


class Arithmetic:
    """The operations under one plan's float type.

    Parameters
    ----------
    real : type
        `numpy.float64` or `numpy.float32`.
    functions : mapping of str to callable
        The transcendentals, by name; each takes and returns scalars of `real`.

    Attributes
    ----------
    lenient : bool
        Only types are looked at: nothing faults.
    """

    def __init__(self, real: Any, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.real = real
        self.functions = functions
        self.lenient = False

    def kind(self, value: Number) -> Any:
        """The type of a number; None for a literal."""
        if isinstance(value, bool):
            return np.bool_
        if isinstance(value, int):
            return None
        return self.real if isinstance(value, (float, np.floating)) else type(value)

    def together(self, *values: Number, bools: bool = False) -> tuple[Number, ...]:
        """The numbers in the one type they are computed in: the wider; a literal's is the others', if it fits there.

        A bool is an int32 in arithmetic; with `bools`, several of them stay what they are.
        """
        kinds = {kind for kind in map(self.kind, values) if kind is not None}
        if self.real in kinds:
            return tuple(self.to(value, self.real) for value in values)
        literals = [value for value in values if self.kind(value) is None]
        if kinds == {np.bool_} and bools and not literals:
            return tuple(map(np.bool_, values))
        kinds = {np.int32 if kind is np.bool_ else kind for kind in kinds}
        kind = next(iter(kinds)) if len(kinds) == 1 else np.int64
        if any(not np.iinfo(kind).min <= value <= np.iinfo(kind).max for value in literals):
            kind = np.int64
        return tuple(self.to(value, kind) for value in values)

    def fault(self, kind: type[Exception]) -> None:
        """Retire the sample, unless only types are looked at."""
        if not self.lenient:
            raise Fault(kind)

    def to(self, value: Number, kind: Any) -> Number:
        if type(value) is kind:  # most are: half of the oracle's time went into saying so
            return value
        try:
            with np.errstate(all="ignore"):
                return typed(value, kind)
        except Fault as fault:
            self.fault(fault.kind)
            return kind(1)

    def apply(self, op: str, *values: Number, bools: bool = False) -> Number:
        """An operation on numbers of any types; `bools` for one that bools have of their own."""
        together = self.together(*values, bools=bools)
        table = FLOAT if isinstance(together[0], np.floating) else INTEGER
        try:
            with np.errstate(all="ignore"):
                result = table[op](*together)
        except Fault as fault:
            self.fault(fault.kind)
            result = together[0]
        return np.bool_(result) if isinstance(result, (bool, np.bool_)) else type(together[0])(result)

    def operator(self, op: str, a: Number, b: Number) -> Number:
        """An operator between numbers of any types; between literals, Python's."""
        if isinstance(a, int) and isinstance(b, int):
            return LITERALS[op](a, b)
        return self.apply(op, a, b, bools=op in OF_BOOLS)

    def real_apply(self, op: str, *values: Number) -> Number:
        """An operation that only floats have."""
        return self.apply(op, *(self.to(value, self.real) for value in values))

    def transcendental(self, name: str, *values: Number) -> Number:
        with np.errstate(all="ignore"):
            return self.real(self.functions[name](*(self.to(value, self.real) for value in values)))

    def power(self, base: Number, exponent: Number) -> Number:
        """Multiplications for a literal exponent up to 64, from its highest bit down; else ``pow``."""
        if not isinstance(exponent, int) or abs(exponent) > LONGEST_POWER:
            return self.transcendental("pow", base, exponent)
        if isinstance(base, int) and not isinstance(base, bool) and exponent >= 0:
            return base**exponent
        (base,) = self.together(self.to(base, self.real) if exponent < 0 else base)
        if exponent == 0:
            return type(base)(1)
        result = base
        for bit in bin(abs(exponent))[3:]:
            result = self.apply("*", result, result)
            if bit == "1":
                result = self.apply("*", result, base)
        return result if exponent > 0 else self.apply("/", type(base)(1), result)
