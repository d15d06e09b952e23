"""What the documentation's examples use of CuPy, over the CUDA device of the tests.

The CUDA runtime, and so CuPy itself, does not work on the emulated device. The names and protocols are CuPy's. What
may be captured (`multiply`, `add`, `fill`) runs on the device, over arrays of float64 with one axis of at most 1024
elements; `fill` takes more. What makes an array of its result is computed on the host.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace, TracebackType
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
        flat = self.reshape(-1)
        for begin in range(0, len(flat), _MOST):
            _launch("set", flat[begin : begin + _MOST], np.float64(value))

    def __mul__(self, other: Any) -> Array:
        return _computed(np.multiply, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Array:
        return _computed(np.divide, self, other)

    def __sub__(self, other: Any) -> Array:
        return _computed(np.subtract, self, other)

    def __pow__(self, other: Any) -> Array:
        return _computed(np.power, self, other)

    @property
    def device(self) -> Device:
        """The device it is on."""
        return Device()

    def __float__(self) -> float:
        return float(self.to_numpy())


_MOST = 1024  # threads of a block


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


def asarray(values: Any, dtype: Any = np.float64) -> Array:
    """Make an array of these values."""
    use_device()
    return Array(np.asarray(values, dtype))


def _computed(function: Callable[..., Any], *arguments: Any, **options: Any) -> Array:
    """Compute an array on the host, once everything that is queued has run."""
    call("cuCtxSynchronize")
    given = [one.to_numpy() if isinstance(one, DeviceArray) else one for one in arguments]
    return asarray(function(*given, **options))


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
        Stream=Stream,
        ExternalStream=ExternalStream,
        Device=Device,
        get_current_stream=get_current_stream,
        runtime=SimpleNamespace(deviceSynchronize=lambda: call("cuCtxSynchronize")),
    )
    vars(cupy).update(
        ndarray=Array,
        asarray=asarray,
        empty=Array.empty,
        linspace=lambda *bounds: asarray(np.linspace(*bounds)),
        arange=lambda *bounds: asarray(np.arange(*bounds)),
        zeros=lambda shape, dtype=np.float64: asarray(np.zeros(shape), dtype),
        ones=lambda count: asarray(np.ones(count)),
        multiply=multiply,
        add=add,
        abs=partial(_computed, np.abs),
        max=partial(_computed, np.max),
        linalg=SimpleNamespace(norm=partial(_computed, np.linalg.norm)),
        float64=np.float64,
        bool_=np.bool_,
        cuda=cuda,
    )
    return cupy
