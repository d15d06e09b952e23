"""What the documentation's examples use of CuPy, over the CUDA device of the tests.

The CUDA runtime, and so CuPy itself, does not work on the emulated device. Arrays here are of float64 with one axis of
at most 1024 elements in operations; the names and protocols are CuPy's.
"""

from __future__ import annotations

import threading
from types import ModuleType, TracebackType
from typing import Any

import cuda_frame
import numpy as np
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE
from cuda_own import call, use_device

__all__ = ["module"]


class Array(DeviceArray):
    """``cupy.ndarray``."""

    def get(self) -> np.ndarray[Any, Any]:
        """Copy to the host."""
        return self.to_numpy()

    def fill(self, value: float) -> None:
        """Set every element."""
        _launch("set", self, np.float64(value))

    @property
    def device(self) -> Device:
        """The device it is on."""
        return Device()

    def __float__(self) -> float:
        return float(self.to_numpy())


class _Here(threading.local):
    stack: tuple[Stream, ...] = ()


_here = _Here()


class Stream:
    """``cupy.cuda.Stream``, and ``ExternalStream`` when a handle is given."""

    def __init__(self, ptr: int | None = None, device_id: int = 0, *, non_blocking: bool = False) -> None:
        self._own = ptr is None
        if ptr is None:
            use_device()
            ptr = int(call("cuStreamCreate", int(non_blocking)))
        self.ptr = ptr

    def synchronize(self) -> None:
        """Wait for what is queued."""
        call("cuStreamSynchronize", self.ptr)

    def __enter__(self) -> Stream:
        _here.stack = (*_here.stack, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _here.stack = _here.stack[:-1]

    def __del__(self) -> None:
        if self._own:
            call("cuStreamDestroy", self.ptr)


class ExternalStream(Stream):
    """A stream somebody else made."""


class Device:
    """``cupy.cuda.Device``: its context is the current one inside the block."""

    def __init__(self, ordinal: int = 0) -> None:
        self.ordinal = ordinal

    def __enter__(self) -> Device:
        self._before = call("cuCtxGetCurrent")
        use_device(self.ordinal)
        return self

    def __exit__(self, *error: object) -> None:
        call("cuCtxSetCurrent", self._before)


_NULL = ExternalStream(0)


def get_current_stream(device_id: int = -1) -> Stream:
    """Return the stream of the innermost ``with``; else the legacy default one, which CuPy calls 0."""
    return _here.stack[-1] if _here.stack else _NULL


def asarray(values: Any) -> Array:
    """Make an array of these values."""
    use_device()
    return Array(np.asarray(values, np.float64))


def multiply(a: Array, b: float, out: Array) -> Array:
    """``out[...] = a * b``, for a number `b`."""
    _launch("scale", a, np.float64(b), out)
    return out


def add(a: Array, b: Array | float, out: Array) -> Array:
    """``out[...] = a + b``."""
    if isinstance(b, DeviceArray):
        _launch("add", a, b, out)
    else:
        _launch("shift", a, np.float64(b), out)
    return out


def _launch(name: str, *arguments: Any) -> None:
    kernel = cuda_frame.compiled(SOURCE, name)
    flat: list[Any] = []
    for one in arguments:
        flat += [one.address, np.int64(one.strides[0])] if isinstance(one, DeviceArray) else [one]
    count = next(len(one) for one in arguments if isinstance(one, DeviceArray))
    with cuda_frame.use(get_current_stream().ptr or cuda_frame.LEGACY):
        cuda_frame.run(kernel, *flat, threads=count)


def module() -> ModuleType:
    """Return it as the module ``cupy``, with kernels compiled already, as a warm cache has them."""
    for name in ("set", "scale", "shift", "add"):
        cuda_frame.compiled(SOURCE, name)
    cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    vars(cuda).update(
        Stream=Stream, ExternalStream=ExternalStream, Device=Device, get_current_stream=get_current_stream
    )
    vars(cupy).update(
        ndarray=Array,
        asarray=asarray,
        empty=Array.empty,
        linspace=lambda *bounds: asarray(np.linspace(*bounds)),
        arange=lambda *bounds: asarray(np.arange(*bounds)),
        zeros=lambda count: asarray(np.zeros(count)),
        ones=lambda count: asarray(np.ones(count)),
        multiply=multiply,
        add=add,
        cuda=cuda,
    )
    return cupy
