"""Types and numbers in CUDA C++."""

from __future__ import annotations

import math

from eagle_ir import Type
from eagle_ir.program import Number

__all__ = ["c_type", "literal", "memory_type"]

_NAMES = {
    Type.F64: "double",
    Type.F32: "float",
    Type.I64: "i64",
    Type.I32: "i32",
    Type.U32: "u32",
    Type.BOOL: "bool",
}


def c_type(type_: Type) -> str:
    """Return the name of a type."""
    return _NAMES[type_]


def memory_type(type_: Type) -> str:
    """Return the name of a type as planes hold it: a bool is a byte, of which any but 0 is true."""
    return "u8" if type_ is Type.BOOL else _NAMES[type_]


def literal(number: Number, type_: Type) -> str:
    """Return a constant, exactly: floats by their bits' value, in base 16."""
    if type_ is Type.BOOL:
        return "true" if number else "false"
    if type_.is_integer:
        return _integer(int(number), type_)
    value = float(number)
    if math.isnan(value):
        return f"not_a_number<{c_type(type_)}>()"
    if math.isinf(value):
        return _signed(f"{'-' if value < 0 else ''}infinity<{c_type(type_)}>()")
    return _signed(value.hex() + ("f" if type_ is Type.F32 else ""))


def _integer(number: int, type_: Type) -> str:
    suffix = {Type.I64: "LL", Type.I32: "", Type.U32: "u"}[type_]
    if type_.is_signed and number == -(2 ** (type_.bits - 1)):  # its absolute value is no literal of the type
        return f"({number + 1}{suffix} - 1)"
    return _signed(f"{number}{suffix}")


def _signed(text: str) -> str:
    """Put a sign into parentheses: another one may come before it."""
    return f"({text})" if text.startswith("-") else text
