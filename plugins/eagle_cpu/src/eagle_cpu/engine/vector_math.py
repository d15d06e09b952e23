"""The transcendentals: one function for each name, chosen once in a process, whatever the width of the code.

Vector libraries give other bits at other widths. So the variant is chosen by the processor alone, code of any width
calls it in pieces, and expressions that are the same for every sample go through it as well. float32 is computed by
the float64 function and rounded.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle_cpu.engine.host import host
from eagle_ir.operations import OPERATIONS

__all__ = ["HARMLESS", "Variant", "functions", "variant", "variant_key"]

NAMES = tuple(name for name, operation in OPERATIONS.items() if operation.transcendental)
HARMLESS = {"acosh": 1.5}
"""What idle lanes are given, where it is not 0.5: one huge value in a lane slows the others tenfold."""

_PREFIXES = {
    ("x86_64", 512): ("e", 8),
    ("x86_64", 256): ("d", 4),
    ("x86_64", 128): ("b", 2),
    ("aarch64", 128): ("n", 2),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """The function behind one name.

    Attributes
    ----------
    name : str
    operands : int
    lanes : int
        How many numbers it takes at once; 0 for a plain C function.
    symbol : str
        What generated code calls. No name that LLVM knows, or it would compute constants by another library.
    address : int
    convention : str
        LLVM's name of how it is called, "" for C.
    """

    name: str
    operands: int
    lanes: int
    symbol: str
    address: int
    convention: str = ""


@functools.cache
def variant(name: str) -> Variant:
    """Return the function that this process uses for `name`."""
    operands = OPERATIONS[name].operands
    prefix, lanes = _PREFIXES.get((host().machine, host().vector_bits), ("", 0))
    vectors = _library("libmvec.so.1")
    vector = f"_ZGV{prefix}N{lanes}{'v' * operands}_{name}"
    symbol = f"eagle_math_{name}"
    if vectors is not None and lanes and hasattr(vectors, vector):
        convention = "aarch64_vector_pcs" if host().machine == "aarch64" else ""
        return Variant(name, operands, lanes, symbol, _address(vectors, vector), convention)
    scalars = _library("libm.so.6") or ctypes.CDLL(None)
    return Variant(name, operands, 0, symbol, _address(scalars, name))


def variant_key() -> str:
    """Return what tells this process's choice of functions from another's."""
    prefix, lanes = _PREFIXES.get((host().machine, host().vector_bits), ("", 0))
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") if hasattr(os, "confstr") else None
    except (ValueError, OSError):
        libc = None
    return f"{prefix}{lanes} {libc or platform.platform()} {_library('libmvec.so.1') is not None}"


def functions() -> dict[str, Callable[..., Any]]:
    """Return each chosen function as a callable on NumPy scalars, with the very bits that generated code gives.

    Returns
    -------
    dict of str to callable
        By the names of `eagle_ir.OPERATIONS`. Each takes one or two float64 or float32 scalars and returns one of
        the same type.
    """
    return dict(_functions())


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    from eagle_cpu.engine.math_calls import entries

    return {name: _callable(address, variant(name).operands) for name, address in entries(NAMES).items()}


def _callable(address: int, operands: int) -> Callable[..., Any]:
    native = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * operands)(address)

    def function(*arguments: Any) -> Any:
        kind = np.float32 if isinstance(arguments[0], np.float32) else np.float64
        with np.errstate(all="ignore"):
            return kind(native(*map(float, arguments)))

    return function


@functools.cache
def _library(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def _address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return address
