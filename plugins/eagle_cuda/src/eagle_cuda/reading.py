"""What the host sees of device arrays, and sets in them, outside graphs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from eagle.plugin import Memory, PlaneError
from eagle_cuda.device import CudaDevice, device
from eagle_cuda.driver import call
from eagle_cuda.lifetime import apart_from_captures
from eagle_cuda.planes import place_of

__all__ = ["clear", "fetch", "read"]


def read(memory: Memory, index: int) -> object:
    """Return element `index` of a 1-D array as a Python number, once everything queued on its device is done.

    Raises
    ------
    PlaneError
        The driver does not know the address, or NumPy does not know the dtype.
    """
    address = memory.address + index * memory.strides[0]
    cell = np.zeros(1, f"V{memory.itemsize}")
    _copied(address, cell)
    return _number(cell, memory.dtype)


def fetch(memory: Memory) -> np.ndarray[Any, Any]:
    """Return a copy of an array on the host, once everything queued on its device is done.

    Raises
    ------
    PlaneError
        The driver does not know the address.
    """
    low = sum(min(step * (count - 1), 0) for step, count in zip(memory.strides, memory.shape, strict=True))
    high = sum(max(step * (count - 1), 0) for step, count in zip(memory.strides, memory.shape, strict=True))
    raw = np.zeros(0 if 0 in memory.shape else high - low + memory.itemsize, np.uint8)
    if raw.size:
        _copied(memory.address + low, raw)
    try:
        dtype = np.dtype(memory.dtype)
    except TypeError:
        dtype = np.dtype(f"V{memory.itemsize}")
    return np.ndarray(memory.shape, dtype, raw.data if raw.size else None, -low, memory.strides).copy()


def clear(memory: Memory) -> None:
    """Set every byte of a contiguous array to zero, behind everything queued on its device.

    Raises
    ------
    PlaneError
        The driver does not know the address, or the array is not contiguous.
    """
    if not memory.is_contiguous:
        raise PlaneError("an array that is not contiguous cannot be cleared", fix="Pass a contiguous array.")
    if 0 in memory.shape:
        return
    with _device_of(memory.address).current(), apart_from_captures():
        call("cuCtxSynchronize")
        call("cuMemsetD8", memory.address, 0, prod(memory.shape) * memory.itemsize)
        call("cuCtxSynchronize")  # a fill is not waited for, and the next launch is on another stream


def _copied(address: int, into: np.ndarray[Any, Any]) -> None:
    with _device_of(address).current(), apart_from_captures():
        call("cuCtxSynchronize")
        call("cuMemcpyDtoH", into.ctypes.data, address, into.nbytes)


def _device_of(address: int) -> CudaDevice:
    place = place_of(address)
    if place.pageable:
        raise PlaneError("the driver does not know the address of the array", fix="Keep the array alive.")
    return device(place.ordinal)


def _number(cell: np.ndarray[tuple[int], np.dtype[np.void]], dtype: str) -> object:
    if dtype == "bfloat16":  # the upper half of a float32
        return (cell.view(np.uint16).astype(np.uint32) << 16).view(np.float32).item()
    try:
        return cell.view(dtype).item()
    except TypeError as error:
        raise PlaneError(f"an element of {dtype} cannot be read from the host") from error
