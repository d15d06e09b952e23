"""One element of a device array, for a guard that the host evaluates."""

from __future__ import annotations

import numpy as np

from eagle.plugin import Memory, PlaneError
from eagle_cuda.device import device
from eagle_cuda.driver import call
from eagle_cuda.lifetime import apart_from_captures
from eagle_cuda.planes import place_of

__all__ = ["read"]


def read(memory: Memory, index: int) -> object:
    """Return element `index` of a 1-D array as a Python number, once everything queued on its device is done.

    Raises
    ------
    PlaneError
        The driver does not know the address, or NumPy does not know the dtype.
    """
    address = memory.address + index * memory.strides[0]
    place = place_of(address)
    if place.pageable:
        raise PlaneError("the driver does not know the address of the array", fix="Keep the array alive.")
    cell = np.zeros(1, f"V{memory.itemsize}")
    with device(place.ordinal).current(), apart_from_captures():
        call("cuCtxSynchronize")
        call("cuMemcpyDtoH", cell.ctypes.data, address, memory.itemsize)
    return _number(cell, memory.dtype)


def _number(cell: np.ndarray[tuple[int], np.dtype[np.void]], dtype: str) -> object:
    if dtype == "bfloat16":  # the upper half of a float32
        return (cell.view(np.uint16).astype(np.uint32) << 16).view(np.float32).item()
    try:
        return cell.view(dtype).item()
    except TypeError as error:
        raise PlaneError(f"an element of {dtype} cannot be read from the host") from error
