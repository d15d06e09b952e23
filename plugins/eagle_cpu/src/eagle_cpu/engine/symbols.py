"""Which names machine code may refer to. The in-memory linker accepts an unknown one and calls address 0."""

from __future__ import annotations

import struct

from eagle.plugin import BuildError
from eagle_cpu.engine.vector_math import NAMES

__all__ = ["check_symbols"]

ALLOWED = frozenset(
    {f"eagle_math_{name}" for name in NAMES}
    | {"fmod", "fmodf", "fma", "fmaf", "roundeven", "roundevenf", "floor", "floorf", "ceil", "ceilf", "trunc", "truncf"}
    | {"memset", "memcpy", "memmove"}
)
"""The transcendentals, and the correctly rounded functions and memory moves that LLVM itself may call."""

_SYMBOL_TABLE = 2
_ELF_HEADER = 64


def check_symbols(binary: bytes, title: str) -> list[str]:
    """Return the names that an object file leaves open, or raise `BuildError` when one is not allowed.

    Parameters
    ----------
    binary : bytes
        A 64-bit little-endian ELF object.
    title : str
        What it is, for the message.
    """
    try:
        names = undefined(binary)
    except ValueError as error:
        raise BuildError(f"machine code for {title} cannot be checked", why=str(error)) from error
    strangers = sorted(set(names) - ALLOWED)
    if strangers:
        raise BuildError(
            f"machine code for {title} refers to {', '.join(strangers)}",
            why="generated code may call only its own mathematical functions",
            fix="Please report this kernel",
        )
    return names


def undefined(binary: bytes) -> list[str]:
    """Return the undefined symbols of an ELF object, raising `ValueError` when it is none."""
    if len(binary) < _ELF_HEADER or binary[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF object")
    (table,) = struct.unpack_from("<Q", binary, 0x28)
    size, count = struct.unpack_from("<HH", binary, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", binary, table + size * one) for one in range(count)]
    names = []
    for section in sections:
        if section[1] != _SYMBOL_TABLE:
            continue
        _, _, _, _, offset, length, strings, _, _, step = section
        for place in range(offset + step, offset + length, step):
            name, _, _, where, _, _ = struct.unpack_from("<IBBHQQ", binary, place)
            if where == 0 and name:
                start = sections[strings][4] + name
                names.append(binary[start : binary.index(b"\0", start)].decode())
    return names
