"""Where the arrays come from: CuPy on a real device, a test's own on the emulated one, where only the code is tried."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

__all__ = ["array_maker", "has"]


def has(module: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(module) is not None


def array_maker(*, emulated: bool) -> Callable[[Any], Any]:
    """Return what makes an array on the device of values on the host."""
    if emulated:
        from cuda_arrays import DeviceArray

        return DeviceArray
    import cupy

    made: Callable[[Any], Any] = cupy.asarray
    return made
