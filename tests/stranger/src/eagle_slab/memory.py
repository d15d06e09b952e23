"""The arrays and their adapter."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from eagle.plugin import ArrayAdapter, Memory


class Slab:
    """A block of bytes; what is in it is known by the slab and an offset."""

    def __init__(self, size: int) -> None:
        self.bytes = bytearray(size)


class SlabArray:
    """A strided array inside a slab."""

    def __init__(
        self, slab: Slab, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self.slab, self.offset, self.shape, self.strides, self.dtype = slab, offset, shape, strides, dtype

    @classmethod
    def from_numpy(cls, values: np.ndarray) -> SlabArray:
        values = np.ascontiguousarray(values)
        array = cls(Slab(max(values.nbytes, 1)), 0, values.shape, values.strides, values.dtype)
        array.host()[...] = values
        return array

    def host(self) -> np.ndarray:
        """The array, as the slab's own code sees it."""
        return np.ndarray(self.shape, self.dtype, self.slab.bytes, self.offset, self.strides)

    def __getitem__(self, key: Any) -> SlabArray:
        whole = np.frombuffer(self.slab.bytes, np.uint8)
        part = self.host()[key]
        offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0] if part.size else 0
        return SlabArray(self.slab, offset, part.shape, part.strides, self.dtype)


class SlabArrays(ArrayAdapter):
    def claims(self, array: object, /) -> bool:
        return isinstance(array, SlabArray)

    def describe(self, array: object, /) -> Memory:
        assert isinstance(array, SlabArray)
        return Memory(
            device=("slab", 0),
            space=("slab", id(array.slab)),
            address=array.offset,
            shape=array.shape,
            strides=array.strides,
            itemsize=array.dtype.itemsize,
            dtype=array.dtype.name,
            keep=array.slab,
        )

    def probe(self, array: object, /) -> Hashable:
        assert isinstance(array, SlabArray)
        return id(array.slab), array.offset, array.shape, array.strides

    def empty(self, like: object, shape: tuple[int, ...], dtype: str, /) -> object:
        return SlabArray.from_numpy(np.empty(shape, dtype))

    def read(self, array: object, index: int, /) -> object:
        assert isinstance(array, SlabArray)
        return array.host().item(index)
