"""Arrays of any library that offers one of the array protocols. No library is imported, no device address is read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from eagle.errors import PlaneError
from eagle.plugin.arrays import ArrayAdapter, Device, Memory
from eagle.plugin.numpy_arrays import dtype_name

__all__ = ["ArrayInterfaceArrays", "CudaInterfaceArrays", "DLPackArrays"]

_DLPACK_HOST = 1  # kDLCPU in dlpack.h


class _InterfaceArrays(ArrayAdapter):
    """Arrays that describe themselves by a dictionary of the array-interface family."""

    attribute: str
    device: Device

    def claims(self, array: object, /) -> bool:
        """Whether it offers the protocol. A property that raises anything but ``AttributeError`` offers it."""
        try:
            return isinstance(getattr(array, self.attribute), Mapping)
        except AttributeError:
            return False
        except Exception:
            return not isinstance(array, type)

    def describe(self, array: object, /) -> Memory:
        """Return its memory."""
        kind = type(array).__name__
        try:
            interface: Mapping[str, Any] = getattr(array, self.attribute)
        except Exception as error:
            raise PlaneError(f"a {kind} refuses to give its memory", why=f"{type(error).__name__}: {error}") from error
        if interface.get("mask") is not None:
            raise PlaneError(
                f"a {kind} with a mask is two arrays, the values and the mask", fix="Declare both by themselves."
            )
        data = interface.get("data")
        if not isinstance(data, tuple) or len(data) != 2:
            raise PlaneError(
                f"the {self.attribute} of a {kind} gives no address",
                fix="Pass a NumPy view of the memory it holds.",
            )
        try:
            dtype = np.dtype(str(interface["typestr"]))
            shape = tuple(int(n) for n in interface["shape"])
            given = interface.get("strides")
            strides = _contiguous(shape, dtype.itemsize) if given is None else tuple(int(s) for s in given)
            address = int(data[0] or 0)
        except (KeyError, TypeError, ValueError) as error:
            raise PlaneError(
                f"the {self.attribute} of a {kind} cannot be read", why=f"{type(error).__name__}: {error}"
            ) from error
        return Memory(
            device=self.device,
            address=address,
            shape=shape,
            strides=strides,
            itemsize=dtype.itemsize,
            dtype=dtype_name(dtype),
            readonly=f"the {kind} says it is read-only; use one that can be written" if data[1] else None,
            keep=array,
        )

    def probe(self, array: object, /) -> Hashable:
        """Return address, shape and strides as the protocol gives them."""
        try:
            interface: Mapping[str, Any] = getattr(array, self.attribute)
            return interface["data"][0], tuple(interface["shape"]), interface.get("strides")
        except Exception:
            return super().probe(array)  # which says what is wrong


class CudaInterfaceArrays(_InterfaceArrays):
    """Device arrays by ``__cuda_array_interface__`` (version 3); the protocol does not say which device."""

    attribute = "__cuda_array_interface__"
    device = ("cuda", -1)


class ArrayInterfaceArrays(_InterfaceArrays):
    """Host arrays by ``__array_interface__`` (version 3), where it gives an address."""

    attribute = "__array_interface__"
    device = ("cpu", 0)


class DLPackArrays(ArrayAdapter):
    """Host arrays by ``__dlpack__``, read through `numpy.from_dlpack`, which makes no copy."""

    def claims(self, array: object, /) -> bool:
        """Whether it offers DLPack in host memory."""
        if isinstance(array, type) or not hasattr(array, "__dlpack__"):
            return False
        try:
            return int(array.__dlpack_device__()[0]) == _DLPACK_HOST  # type: ignore[attr-defined]
        except AttributeError:
            return False
        except Exception as error:
            raise PlaneError(
                f"a {type(array).__name__} does not say where it is", why=f"{type(error).__name__}: {error}"
            ) from error

    def describe(self, array: object, /) -> Memory:
        """Return its memory."""
        view = _view(array)
        return Memory(
            device=("cpu", 0),
            address=int(view.__array_interface__["data"][0]),
            shape=view.shape,
            strides=view.strides,
            itemsize=view.itemsize,
            dtype=dtype_name(view.dtype),
            readonly=None
            if view.flags.writeable
            else f"the DLPack export of a {type(array).__name__} is read-only, or too old to say that it is not; "
            "pass a NumPy view of its memory",
            keep=(array, view),
        )


def _view(array: object) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        return np.from_dlpack(array)  # type: ignore[arg-type]
    except Exception as error:
        raise PlaneError(
            f"a {type(array).__name__} cannot be read through DLPack",
            why=f"{type(error).__name__}: {error}",
            fix="Pass a NumPy view of the memory it holds.",
        ) from error


def _contiguous(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = []
    step = itemsize
    for count in reversed(shape):
        strides.append(step)
        step *= max(count, 1)
    return tuple(reversed(strides))
