"""What eagle_jax uses of JAX on a device, over the CUDA device of the tests: JAX loads no emulated driver.

The names are JAX's; `tests/eagle_jax/test_stand_in.py` compares them with the real ones. It computes on a stream of its
own that nobody can choose, as JAX does, and uses the memory of an array that is gone for something else, in that
stream's order: a copy of a result that was not kept alive reads what it should not. Arrays are of float64, with one
axis.
"""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import cuda_frame
import numpy as np
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE
from cuda_own import call, use_device

from eagle_jax.dlpack import _Tensor

__all__ = ["forget", "module", "start"]

NON_BLOCKING = 1


class _Library:
    """The stream it computes on, made anew for each test."""

    stream = 0
    external = 0
    kept: list[Any] = []  # noqa: RUF012 - memory it uses again


class Device:
    """``jax.Device``."""

    platform = "gpu"
    local_hardware_id = 0

    def get_stream_for_external_ready_events(self) -> int:
        """Return the stream that has to wait for what others queued."""
        return _Library.external


class Array:
    """``jax.Array``; without memory it is what a traced function is given."""

    def __init__(self, memory: DeviceArray | None, shape: tuple[int, ...], *, own: bool = True) -> None:
        self._memory, self._own, self.shape = memory, own, shape
        self.dtype = np.dtype(np.float64)

    def __mul__(self, by: float) -> Array:
        return self._computed("scale", by)

    def __add__(self, by: float) -> Array:
        return self._computed("shift", by)

    def unsafe_buffer_pointer(self) -> int:
        """Return the address."""
        assert self._memory is not None
        return self._memory.address

    def __dlpack__(self, *, stream: int | None = None) -> object:
        """Have a stream wait until it is computed, and return what keeps its memory."""
        assert stream is not None
        _wait(_Library.stream, stream)
        return self

    def __del__(self) -> None:
        if self._memory is not None and self._own:
            _Library.kept.append(self._memory)
            _launch("set", self._memory, np.float64(np.nan))

    def _computed(self, name: str, by: float) -> Array:
        if self._memory is None:
            return Array(None, self.shape)
        out = DeviceArray.empty(self.shape)
        _launch(name, self._memory, np.float64(by), out)
        return Array(out, self.shape)


class Tracer:
    """``jax.core.Tracer``."""


class ShapeDtypeStruct:
    """``jax.ShapeDtypeStruct``."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype


class Traced:
    """``jax.stages.Traced``, ``Lowered`` and ``Compiled``, as a jitted function gives them."""

    def __init__(self, fn: Callable[..., Sequence[Array]]) -> None:
        self._fn = fn

    def lower(self) -> Traced:
        return self

    def compile(self) -> Callable[..., Sequence[Array]]:
        return self._fn


def jit(fn: Callable[..., Any]) -> Any:
    """Return what has the ``trace`` of a jitted function."""

    def trace(*arguments: ShapeDtypeStruct) -> Traced:
        fn(*(Array(None, one.shape) for one in arguments))
        return Traced(fn)

    return SimpleNamespace(trace=trace)


def from_dlpack(external: Any, *, copy: bool | None = None) -> Array:
    """Return an array over the memory of a producer, whose work JAX's stream waits for."""
    assert copy is False
    kind, ordinal = external.__dlpack_device__()
    assert (kind, ordinal) == (2, 0)
    capsule = external.__dlpack__(stream=_Library.external)
    _wait(_Library.external, _Library.stream)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(get(capsule, b"dltensor"))
    assert (tensor.code, tensor.bits, tensor.lanes) == (2, 64, 1)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    view = DeviceArray.__new__(DeviceArray)
    vars(view).update(_memory=capsule, _address=tensor.data, shape=shape, dtype=np.dtype(float), stream=None)
    vars(view).update(strides=tuple(8 * tensor.strides[axis] for axis in range(tensor.ndim)), read_only=False)
    return Array(view, shape, own=False)


def local_devices(backend: str | None = None) -> list[Device]:
    """Return the one device."""
    if backend != "cuda":
        raise RuntimeError(f"no backend {backend}")
    return [_the_device()]


@functools.cache
def _the_device() -> Device:
    return Device()


@contextmanager
def _scope(value: object) -> Iterator[None]:
    yield


@functools.cache
def module() -> ModuleType:
    """Return it as the module ``jax``: one object, which eagle_jax keeps once it has imported it."""
    jax = ModuleType("jax")
    vars(jax).update(
        Array=Array,
        ShapeDtypeStruct=ShapeDtypeStruct,
        jit=jit,
        config=SimpleNamespace(jax_enable_x64=False),
        enable_x64=_scope,
        default_device=_scope,
        local_devices=local_devices,
        core=SimpleNamespace(Tracer=Tracer),
        numpy=SimpleNamespace(dtype=np.dtype),
        dlpack=SimpleNamespace(from_dlpack=from_dlpack),
    )
    return jax


def start() -> ModuleType:
    """Begin anew on a device that was reset."""
    use_device()
    _Library.stream = int(call("cuStreamCreate", NON_BLOCKING))
    _Library.external = int(call("cuStreamCreate", NON_BLOCKING))
    _Library.kept = []
    for name in ("set", "scale", "shift"):
        cuda_frame.compiled(SOURCE, name)
    return module()


def forget() -> None:
    """Let go of everything that is not used any more."""
    gc.collect()
    _Library.kept.clear()


def _launch(name: str, *arguments: Any) -> None:
    flat: list[Any] = []
    for one in arguments:
        flat += [one.address, np.int64(one.strides[0])] if isinstance(one, DeviceArray) else [one]
    count = next(len(one) for one in arguments if isinstance(one, DeviceArray))
    with cuda_frame.use(_Library.stream):
        cuda_frame.run(cuda_frame.compiled(SOURCE, name), *flat, threads=count)


def _wait(first: int, then: int) -> None:
    """Have a stream wait for what is queued on another one by now."""
    event = call("cuEventCreate", 0)
    call("cuEventRecord", event, first)
    call("cuStreamWaitEvent", then, event, 0)
    call("cuEventDestroy", event)
