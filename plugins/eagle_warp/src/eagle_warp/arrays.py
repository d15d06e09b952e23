"""Warp's arrays, of scalars, vectors, matrices and structures; indexed ones are refused by name."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from math import prod
from typing import Any

import numpy as np

from eagle.plugin import ArrayAdapter, Device, Memory, PlaneError
from eagle_warp.payload import Elements

__all__ = ["PLAIN", "WarpArrays", "element", "elements_of", "is_structure"]

PLAIN = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
        *("float16", "bfloat16", "float32", "float64"),
    }
)
"""The scalars that lead to no memory. A uint64 may be the handle of a mesh, a volume or a grid."""

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


def elements_of(kind: Any) -> Elements:
    """Return what elements an array of this type, the annotation of an argument, holds."""
    scalar = getattr(getattr(kind.dtype, "_wp_scalar_type_", kind.dtype), "__name__", "")
    known = is_structure(kind.dtype) or scalar in PLAIN or scalar == "uint64"
    dtype, inner, _ = element(kind.dtype) if known else (None, (), 0)  # of a generic kernel
    return Elements(dtype=dtype, inner=inner, axes=int(kind.ndim))


def is_structure(kind: Any) -> bool:
    """Whether it is the type of a ``warp.struct``."""
    return hasattr(kind, "numpy_dtype") and hasattr(kind, "vars")


def _device(array: Any) -> Device:
    return ("cpu", 0) if array.device.is_cpu else ("cuda", int(array.device.ordinal))
