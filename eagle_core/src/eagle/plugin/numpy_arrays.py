"""NumPy's own arrays."""

from __future__ import annotations

import functools
import sys
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from eagle.errors import PlaneError
from eagle.plugin.arrays import ArrayAdapter, Memory

__all__ = ["NumPyArrays", "dtype_name"]


# The attribute of the base class: a subclass may have overridden it.
_interface = np.ndarray.__array_interface__.__get__
_READ_ONLY = (
    "the array is read-only (array.flags.writeable is False); use one that can be written, here and in your code"
)


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
            readonly=None if array.flags.writeable else _READ_ONLY,
            keep=array,
        )

    def probe(self, array: object, /) -> Hashable:
        """Return address, shape and strides, and those of the arrays it is a view of, which may be resized under it.

        An array made by `numpy.from_dlpack` hides whose memory it is; resizing that is not noticed.
        """
        assert isinstance(array, np.ndarray)
        mark: tuple[object, ...] = (_address(array), array.shape, array.strides)
        if array.base is not None:
            for owner in _owners(array):
                mark += (_address(owner), owner.shape)
        return mark

    def probed(self, array: object, /) -> Sequence[np.ndarray]:
        """Return it, and the arrays it is a view of."""
        assert isinstance(array, np.ndarray)
        return (array,) if array.base is None else (array, *_owners(array))

    def empty(self, like: object, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate with `numpy.empty`."""
        return np.empty(shape, dtype)

    def read(self, array: object, index: int, /) -> object:
        """Return one element as a Python number."""
        assert isinstance(array, np.ndarray)
        try:
            return array.item(index)
        except IndexError as error:
            raise PlaneError(
                f"it has no element {index} any more", why=f"its shape is {array.shape} now", fix="Keep it as it is."
            ) from error


def _owners(array: np.ndarray) -> Iterator[np.ndarray]:
    owner = array.base
    while owner is not None:
        if isinstance(owner, np.ndarray):
            yield owner
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)


def dtype_name(dtype: np.dtype[np.generic]) -> str:
    """Return the name `Memory.dtype` uses.

    That is ``"float64"``, NumPy's ``str`` when it is not native or not plain, and the list of fields of a structure.
    """
    if dtype.isnative and dtype.kind in "biufc":
        return _plain_name(dtype)
    return dtype.str if dtype.names is None else repr(dtype)


@functools.cache
def _plain_name(dtype: np.dtype[np.generic]) -> str:
    return dtype.name  # which NumPy puts together anew each time


def _address(array: np.ndarray) -> int:
    address: int = _interface(array)["data"][0]
    return address
