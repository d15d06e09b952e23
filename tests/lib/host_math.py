"""The C library's transcendentals as the evaluator takes them: what kernels on the emulated device call."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from eagle_ir import OPERATIONS

__all__ = ["functions"]


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return each by its name in the IR, over float64 or float32 scalars of NumPy's."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    found = {}
    for name, operation in OPERATIONS.items():
        if operation.transcendental:
            kinds = {np.dtype("float64"): (name, ctypes.c_double), np.dtype("float32"): (f"{name}f", ctypes.c_float)}
            found[name] = _function(library, kinds, operation.operands)
    return found


def _function(library: Any, kinds: dict[Any, tuple[str, Any]], operands: int) -> Callable[..., Any]:
    calls = {}
    for dtype, (symbol, kind) in kinds.items():
        call = getattr(library, symbol)
        call.argtypes, call.restype = [kind] * operands, kind
        calls[dtype] = call

    def function(*numbers: Any) -> Any:
        dtype = np.asarray(numbers[0]).dtype
        return dtype.type(calls[dtype](*numbers))

    return function
