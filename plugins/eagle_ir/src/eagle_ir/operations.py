"""Every operation a `Compute` may do: what it takes, what it gives, and what its result is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from eagle_ir.types import Type

__all__ = ["OPERATIONS", "Operation", "result_type"]

Kinds: TypeAlias = frozenset[Type]
FLOATS: Kinds = frozenset({Type.F64, Type.F32})
INTEGERS: Kinds = frozenset({Type.I64, Type.I32, Type.U32})
BOOLS: Kinds = frozenset({Type.BOOL})
NUMBERS: Kinds = FLOATS | INTEGERS
ANY: Kinds = NUMBERS | BOOLS


class Operation(NamedTuple):
    """The signature and the meaning of one operation. All operands have one type, unless the meaning says otherwise.

    Attributes
    ----------
    operands : int
    takes : frozenset of Type
    gives : {"same", "bool", "any"}
        The type of the result: that of the operands, bool, or the one the instruction states (a conversion).
    faults : bool
        Whether it can fault: it then retires its sample (`eagle_ir.evaluate.Fault`).
    transcendental : bool
        Whether its bits are the machine's vector math library's rather than fixed by IEEE 754.
    meaning : str
    """

    operands: int
    takes: Kinds
    gives: Literal["same", "bool", "any"]
    meaning: str
    faults: bool = False
    transcendental: bool = False


def _math(operands: int, meaning: str) -> Operation:
    return Operation(operands, FLOATS, "same", meaning, transcendental=True)


OPERATIONS: dict[str, Operation] = {
    # arithmetic: floats by IEEE 754, integers two's complement and wrapping
    "add": Operation(2, NUMBERS, "same", "a + b"),
    "sub": Operation(2, NUMBERS, "same", "a - b"),
    "mul": Operation(2, NUMBERS, "same", "a * b"),
    "div": Operation(2, FLOATS, "same", "a / b"),
    "neg": Operation(1, NUMBERS, "same", "-a"),
    "abs": Operation(1, NUMBERS, "same", "|a|; the smallest integer is its own"),
    "fma": Operation(3, FLOATS, "same", "a * b + c, rounded once"),
    "sqrt": Operation(1, FLOATS, "same", "the square root, correctly rounded"),
    "floor": Operation(1, FLOATS, "same", "the largest whole number not above a"),
    "ceil": Operation(1, FLOATS, "same", "the smallest whole number not below a"),
    "trunc": Operation(1, FLOATS, "same", "a without its fraction"),
    "round": Operation(1, FLOATS, "same", "the nearest whole number, half to even"),
    "copysign": Operation(2, FLOATS, "same", "|a| with the sign of b"),
    "floordiv": Operation(
        2, NUMBERS, "same", "floor of a / b as Python; integers fault on 0, and the smallest // -1 wraps", faults=True
    ),
    "mod": Operation(2, NUMBERS, "same", "a - floor(a / b) * b, with the sign of b; integers fault on 0", faults=True),
    "fmod": Operation(2, FLOATS, "same", "the remainder with the sign of a, exact, as C's fmod"),
    "min": Operation(2, NUMBERS, "same", "the smaller; NaN if either is; -0 is smaller than +0"),
    "max": Operation(2, NUMBERS, "same", "the larger; NaN if either is; +0 is larger than -0"),
    # bits: of integers, and of bools where it makes sense
    "and": Operation(2, INTEGERS | BOOLS, "same", "bitwise and"),
    "or": Operation(2, INTEGERS | BOOLS, "same", "bitwise or"),
    "xor": Operation(2, INTEGERS | BOOLS, "same", "bitwise exclusive or"),
    "not": Operation(1, INTEGERS | BOOLS, "same", "bitwise complement"),
    "shl": Operation(2, INTEGERS, "same", "a * 2**b, wrapping; 0 when b is not in 0..bits-1"),
    "shr": Operation(2, INTEGERS, "same", "floor of a / 2**b; when b is not in 0..bits-1: 0, or -1 for negative a"),
    # comparisons: ordered, so that NaN compares false, but for ne, which it satisfies
    "eq": Operation(2, ANY, "bool", "a == b"),
    "ne": Operation(2, ANY, "bool", "a != b"),
    "lt": Operation(2, NUMBERS, "bool", "a < b"),
    "le": Operation(2, NUMBERS, "bool", "a <= b"),
    "gt": Operation(2, NUMBERS, "bool", "a > b"),
    "ge": Operation(2, NUMBERS, "bool", "a >= b"),
    "isnan": Operation(1, FLOATS, "bool", "a is NaN"),
    "isinf": Operation(1, FLOATS, "bool", "a is infinite"),
    # choice and conversion
    "select": Operation(3, ANY, "same", "b if the bool a else c; b and c have the result's type"),
    "convert": Operation(
        1,
        ANY,
        "any",
        "a in another type. Integers wrap; to bool: a != 0; from bool: 0 or 1; integer to float rounds half to even; "
        "float to integer truncates, and faults for NaN or out of range, giving the type's minimum",
        faults=True,
    ),
    # transcendentals
    "sin": _math(1, "sine"),
    "cos": _math(1, "cosine"),
    "tan": _math(1, "tangent"),
    "asin": _math(1, "inverse sine"),
    "acos": _math(1, "inverse cosine"),
    "atan": _math(1, "inverse tangent"),
    "sinh": _math(1, "hyperbolic sine"),
    "cosh": _math(1, "hyperbolic cosine"),
    "tanh": _math(1, "hyperbolic tangent"),
    "asinh": _math(1, "inverse hyperbolic sine"),
    "acosh": _math(1, "inverse hyperbolic cosine"),
    "atanh": _math(1, "inverse hyperbolic tangent"),
    "exp": _math(1, "e**a"),
    "exp2": _math(1, "2**a"),
    "expm1": _math(1, "e**a - 1"),
    "log": _math(1, "natural logarithm"),
    "log2": _math(1, "logarithm to base 2"),
    "log10": _math(1, "logarithm to base 10"),
    "log1p": _math(1, "log(1 + a)"),
    "cbrt": _math(1, "cube root"),
    "erf": _math(1, "error function"),
    "erfc": _math(1, "1 - erf(a)"),
    "pow": _math(2, "a**b"),
    "atan2": _math(2, "angle of the point (b, a)"),
    "hypot": _math(2, "sqrt(a**2 + b**2) without overflow"),
}


def result_type(op: str, operands: Sequence[Type], stated: Type | None = None) -> Type:
    """Return the type of the result of `op`, or raise `TypeError` saying why the operands do not fit.

    Parameters
    ----------
    op : str
    operands : sequence of Type
    stated : Type, optional
        What a conversion converts to.
    """
    operation = OPERATIONS.get(op)
    if operation is None:
        raise TypeError(f"there is no operation {op!r}")
    if len(operands) != operation.operands:
        raise TypeError(f"{op} takes {operation.operands} operands, not {len(operands)}")
    if op == "select":
        if operands[0] is not Type.BOOL:
            raise TypeError(f"select chooses by a bool, not by {operands[0].value}")
        operands = operands[1:]
    if any(one is not operands[0] for one in operands) or operands[0] not in operation.takes:
        raise TypeError(f"{op} does not take ({', '.join(one.value for one in operands)})")
    if operation.gives == "bool":
        return Type.BOOL
    if operation.gives == "any":
        if stated is None:
            raise TypeError(f"{op} has to state the type it gives")
        return stated
    return operands[0]
