"""NumPy arrays over memory that eagle has a description of."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.plugin import Memory

__all__ = ["host_view"]


class _Described:
    """Something NumPy takes for an array: the protocol that makes a view, and what keeps the bytes alive."""

    __slots__ = ("__array_interface__", "keep")

    def __init__(self, memory: Memory, typestr: str) -> None:
        self.keep = memory.keep
        self.__array_interface__ = {
            "data": (memory.address, memory.readonly is not None),
            "shape": memory.shape,
            "strides": memory.strides,
            "typestr": typestr,
            "version": 3,
        }


def host_view(memory: Memory) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array over host memory, as its dtype, or as raw bytes of the item size where NumPy has no such dtype.

    The view keeps ``memory.keep`` alive.
    """
    try:
        typestr = np.dtype(memory.dtype).str
    except TypeError:
        typestr = f"|V{memory.itemsize}"
    return np.asarray(_Described(memory, typestr))
