"""Memory that eagle has a description of, offered to JAX through DLPack (dlpack.h, version 0.8), without a copy."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from typing import Any

from eagle.plugin import Memory

__all__ = ["Exported"]

_DEVICES = {"cpu": 1, "cuda": 2}  # kDLCPU, kDLCUDA
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5}  # DLDataTypeCode
_BOOL = (6, 8)
_NAME = b"dltensor"

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# The deleter, which JAX wants to exist. Nothing has to happen when a consumer is done, which may be in any thread and
# after Python has ended. So it is a function of C that does nothing, and looks at no argument.
_NOTHING = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value


class _Tensor(ctypes.Structure):
    """``DLManagedTensor``, with the ``DLTensor`` it begins with written out."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class Exported:
    """A plane as a producer of DLPack. The plane has to outlive every array made of it.

    Parameters
    ----------
    memory : Memory
        Of numbers, on the CPU or a CUDA device.
    ordinal : int
        The device's number.
    ready : callable, optional
        ``ready(stream)`` has the consumer's stream, a handle or None, wait until what was queued for the plane is done.
    """

    def __init__(self, memory: Memory, ordinal: int = 0, ready: Callable[[int | None], object] | None = None) -> None:
        self._ready = ready
        self._device = _DEVICES[memory.device[0]], ordinal
        steps = tuple(step // memory.itemsize for step in memory.strides)
        self._tensor = _described(memory.address, self._device, memory.dtype, memory.shape, steps)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind and number of its device."""
        return self._device

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        """Return a capsule over the memory, after `stream` was made to wait for what is queued for it."""
        if self._ready is not None:
            self._ready(stream)
        return _new_capsule(ctypes.addressof(self._tensor), _NAME, None)


@functools.cache
def _described(
    address: int, device: tuple[int, int], dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> _Tensor:
    """Return what a capsule holds. It is kept for ever: JAX may look into it whenever it lets go of an array."""
    axes = ctypes.c_int64 * len(shape)
    code, bits = _type_of(dtype)
    return _Tensor(address, *device, len(shape), code, bits, 1, axes(*shape), axes(*strides), 0, None, _NOTHING)


def _type_of(dtype: str) -> tuple[int, int]:
    if dtype == "bool":
        return _BOOL
    found = re.fullmatch(r"([a-z]+)(\d+)", dtype)
    assert found is not None, dtype  # what is no number was refused when the node was added
    return _CODES[found[1]], int(found[2])
