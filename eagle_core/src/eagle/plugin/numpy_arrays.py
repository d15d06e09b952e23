"""NumPy's own arrays."""

from __future__ import annotations

import sys
from collections.abc import Hashable

import numpy as np

from eagle.errors import PlaneError
from eagle.plugin.arrays import ArrayAdapter, Memory

__all__ = ["NumPyArrays", "dtype_name"]


class NumPyArrays(ArrayAdapter):
    """Adapter of `numpy.ndarray`. Refused: masked arrays (two arrays in one) and arrays of Python objects."""

    def claims(self, array: object, /) -> bool:
        """Whether it is an ``ndarray``, or of a subclass."""
        return isinstance(array, np.ndarray)

    def describe(self, array: object, /) -> Memory:
        """Return its memory."""
        assert isinstance(array, np.ndarray)
        masked = sys.modules.get("numpy.ma")
        if masked is not None and isinstance(array, masked.MaskedArray):
            raise PlaneError(
                "a masked array is two arrays, the values and the mask", fix="Declare array.data and array.mask."
            )
        if array.dtype.hasobject:
            raise PlaneError(
                f"an array of dtype {array.dtype} holds references to Python objects",
                why="eagle sees the references, not what they refer to",
                fix="Use an array of numbers.",
            )
        return Memory(
            device=("cpu", 0),
            address=_address(array),
            shape=array.shape,
            strides=array.strides,
            itemsize=array.itemsize,
            dtype=dtype_name(array.dtype),
            readonly=None
            if array.flags.writeable
            else "the array is read-only (array.flags.writeable is False); pass a writable one, such as array.copy()",
            keep=array,
        )

    def probe(self, array: object, /) -> Hashable:
        """Return address, shape and strides, and those of the array it is a view of, which may be resized under it."""
        assert isinstance(array, np.ndarray)
        owner = array.base
        if isinstance(owner, np.ndarray):
            return _address(array), array.shape, array.strides, _address(owner), owner.shape
        return _address(array), array.shape, array.strides

    def empty(self, like: object, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate with `numpy.empty`."""
        return np.empty(shape, dtype)

    def read(self, array: object, index: int, /) -> object:
        """Return one element as a Python number."""
        assert isinstance(array, np.ndarray)
        return array.item(index)


def dtype_name(dtype: np.dtype[np.generic]) -> str:
    """Return the name `Memory.dtype` uses: ``"float64"``, or NumPy's ``str`` when it is not native or not plain."""
    return dtype.name if dtype.isnative and dtype.kind in "biufc" else dtype.str


def _address(array: np.ndarray) -> int:
    # The attribute of the base class: a subclass may have overridden it.
    interface = np.ndarray.__array_interface__.__get__(array)
    return int(interface["data"][0])
