"""How values look in LLVM: as one number, or as a vector with one number per lane."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from eagle_ir.types import Type

__all__ = ["Form", "Operand"]

_SCALARS = {Type.F64: "double", Type.F32: "float", Type.I64: "i64", Type.I32: "i32", Type.U32: "i32", Type.BOOL: "i1"}
_MANGLED = {"double": "f64", "float": "f32"}


@dataclass(frozen=True, slots=True)
class Operand:
    """A value of the program as the generated code has it.

    Attributes
    ----------
    text : str
        A name, or a number written out.
    type : Type
    uniform : bool
        Whether it is one number, the same for every sample, rather than one per lane.
    """

    text: str
    type: Type
    uniform: bool


@dataclass(frozen=True, slots=True)
class Form:
    """Writes types and constants for values of `lanes` lanes; 0 lanes is one plain number.

    One text then serves both: LLVM's instructions are the same for a number and for a vector of them.

    Attributes
    ----------
    lanes : int
    """

    lanes: int

    def of(self, scalar: str) -> str:
        """Return LLVM's name of the type whose element is `scalar`."""
        return f"<{self.lanes} x {scalar}>" if self.lanes else scalar

    def type(self, type_: Type) -> str:
        """Return LLVM's name of a type of the program."""
        return self.of(_SCALARS[type_])

    def mangle(self, scalar: str) -> str:
        """Return how intrinsics abbreviate it: ``v32f64``."""
        return (f"v{self.lanes}" if self.lanes else "") + _MANGLED.get(scalar, scalar)

    def const(self, scalar: str, number: float | int) -> str:
        """Return `number` in every lane."""
        text = f"{scalar_text(scalar, number)}"
        return f"splat ({scalar} {text})" if self.lanes else text


def llvm_scalar(type_: Type) -> str:
    """Return LLVM's name of one number of a type."""
    return _SCALARS[type_]


def memory_scalar(type_: Type) -> str:
    """Return LLVM's name of an element in memory: a bool takes a byte."""
    return "i8" if type_ is Type.BOOL else _SCALARS[type_]


def scalar_text(scalar: str, number: float | int) -> str:
    """Write a number so that it loses nothing: a float by the bits of a double, which is how LLVM reads both kinds."""
    if scalar in _MANGLED:
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if scalar == "i1":
        return "true" if number else "false"
    return str(int(number))
