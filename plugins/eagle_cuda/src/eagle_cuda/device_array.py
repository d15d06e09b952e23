"""An array on the device, for libraries whose own eagle does not know how to make."""

from __future__ import annotations

import weakref
from math import prod
from typing import Any

import numpy as np

from eagle_cuda.device import device
from eagle_cuda.driver import call
from eagle_cuda.lifetime import when_nothing_is_captured
from eagle_cuda.reading import fetch

__all__ = ["DeviceArray"]


class DeviceArray:
    """A contiguous array in the memory of one device: what a run returns beside arrays it cannot make more of.

    Libraries take it by ``__cuda_array_interface__``; `to_host` copies it, as does ``np.asarray``.

    Parameters
    ----------
    shape : tuple of int
    dtype : str
        A NumPy dtype.
    ordinal : int
        The device.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    """

    def __init__(self, shape: tuple[int, ...], dtype: str, ordinal: int) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._ordinal = ordinal
        with device(ordinal).current():
            self._address = int(call("cuMemAlloc", max(prod(shape) * self.dtype.itemsize, 1)))
        weakref.finalize(self, when_nothing_is_captured, _Free(ordinal, self._address)).atexit = False

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._address, False),
            "strides": None,
            "version": 3,
        }

    def to_host(self) -> np.ndarray[Any, Any]:
        """Return a copy on the host, once everything queued on the device is done."""
        from eagle.plugin import adapter_of

        return fetch(adapter_of(self).describe(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array on a device cannot be seen from the host without a copy")
        return self.to_host().astype(self.dtype if dtype is None else dtype, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<eagle_cuda.DeviceArray {self.dtype}{list(self.shape)} on device {self._ordinal}>"


class _Free:
    """Gives memory back: no method of the array, which it would keep."""

    def __init__(self, ordinal: int, address: int) -> None:
        self.ordinal, self.address = ordinal, address

    def __call__(self) -> None:
        with device(self.ordinal).current():
            call("cuMemFree", self.address)
