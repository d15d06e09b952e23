"""What is passed to a kernel for its arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eagle.plugin import Argument, Memory

__all__ = ["packed", "parameter_kinds"]

_PARAMS = {
    "float64": ctypes.c_double,
    "float32": ctypes.c_float,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
    "uint32": ctypes.c_uint32,
    "bool": ctypes.c_bool,
}


def packed(
    arguments: Sequence[Argument], planes: Mapping[str, Memory], params: Mapping[str, float | int | bool]
) -> list[tuple[Any, Any]]:
    """Return pairs of value and ctypes type, in the order of the arguments.

    A param is passed by value in its type; a plane by its address and, for vectors and matrices, the elements from one
    component to the next; a table by its address and the length of each axis.

    Parameters
    ----------
    arguments : sequence of Argument
    planes : mapping of str to Memory
        One per argument that is no param, checked by whoever bound them.
    params : mapping of str to number
    """
    passed: list[tuple[Any, Any]] = []
    for argument in arguments:
        if argument.role == "param":
            passed.append((_number(params[argument.name], argument.dtype), _PARAMS[argument.dtype]))
            continue
        memory = planes[argument.name]
        passed.append((memory.address, ctypes.c_void_p))
        if argument.role == "table":
            passed += [(length, ctypes.c_longlong) for length in memory.shape]
        elif argument.shape:
            step = memory.strides[0] if len(memory.shape) > 1 else 0
            passed.append((step // memory.itemsize, ctypes.c_longlong))
    return passed


def parameter_kinds(arguments: Sequence[Argument]) -> list[Any]:
    """Return the ctypes types of what `packed` passes for these arguments."""
    kinds: list[Any] = []
    for argument in arguments:
        if argument.role == "param":
            kinds.append(_PARAMS[argument.dtype])
            continue
        numbers = len(argument.shape) if argument.role == "table" else int(bool(argument.shape))
        kinds += [ctypes.c_void_p, *[ctypes.c_longlong] * numbers]
    return kinds


def _number(number: float | int | bool, dtype: str) -> Any:
    """Return a param in its argument's type: floats rounded once, integers wrapped."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        bits = int(number) & (2 ** (8 * kind.itemsize) - 1)
        return np.array(bits, f"u{kind.itemsize}").view(kind).item()
    with np.errstate(over="ignore"):
        return kind.type(number).item()
