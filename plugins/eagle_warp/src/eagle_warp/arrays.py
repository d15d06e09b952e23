"""Warp's arrays, of scalars, vectors, matrices and structures; indexed ones are refused by name."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from math import prod
from typing import Any

import numpy as np

from eagle.plugin import ArrayAdapter, Device, Memory, PlaneError

__all__ = ["WarpArrays"]

_PARTS = ("indexedarray", "fabricarray", "indexedfabricarray")


class WarpArrays(ArrayAdapter):
    """Adapter of `warp.array`, on any device. The axes of a vector or matrix are last, as in NumPy's view."""

    def claims(self, array: object, /) -> bool:
        """Whether it is an array of Warp's, an indexed one too."""
        warp = sys.modules.get("warp")
        kinds = [getattr(warp, name, None) for name in ("array", *_PARTS)]
        return isinstance(array, tuple(kind for kind in kinds if isinstance(kind, type)))

    def describe(self, array: Any, /) -> Memory:
        """Return its memory.

        Raises
        ------
        PlaneError
            It is no single block of memory, or an annotation without any.
        """
        kind = type(array).__name__
        if not isinstance(array, sys.modules["warp"].array):
            raise PlaneError(
                f"a Warp {kind} is elements picked out of other arrays",
                why="a plane is one array with fixed strides",
                fix="Copy it with its contiguous(), or declare the array it picks from.",
            )
        if getattr(array, "device", None) is None:
            raise PlaneError(
                "the Warp array is an annotation, without memory", fix="Pass an array, as of wp.zeros(...)."
            )
        dtype, inner, itemsize = element(array.dtype)
        within = tuple(itemsize * prod(inner[axis + 1 :]) for axis in range(len(inner)))
        return Memory(
            device=_device(array),
            address=int(array.ptr or 0),
            shape=(*array.shape, *inner),
            strides=(*array.strides, *within),
            itemsize=itemsize,
            dtype=dtype,
            keep=array,
        )

    def probe(self, array: Any, /) -> Hashable:
        """Return address, shape and strides."""
        return array.ptr, array.shape, array.strides

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate on the device of `like`."""
        warp = sys.modules["warp"]
        return warp.empty(shape, dtype=getattr(warp, dtype), device=like.device)


def element(dtype: Any) -> tuple[str, tuple[int, ...], int]:
    """Return a Warp dtype as the name of its scalar, the axes of one element, and the bytes of one scalar.

    A structure is one scalar.
    """
    if hasattr(dtype, "numpy_dtype"):
        fields = np.dtype(dtype.numpy_dtype())
        return repr(fields), (), fields.itemsize
    scalar = getattr(dtype, "_wp_scalar_type_", dtype)
    name = scalar.__name__
    size = 2 if name == "bfloat16" else np.dtype(name).itemsize
    return name, tuple(getattr(dtype, "_shape_", ())), size


def _device(array: Any) -> Device:
    return ("cpu", 0) if array.device.is_cpu else ("cuda", int(array.device.ordinal))
