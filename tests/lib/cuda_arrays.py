"""Arrays over emulated device memory, for tests: the smallest thing with ``__cuda_array_interface__``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from cuda.bindings import driver


class DeviceArray:
    """
    A strided array in device memory.

    Parameters
    ----------
    values
        What it holds first, copied synchronously.
    stream
        What ``__cuda_array_interface__`` says of the stream the producer used: None (no synchronisation needed),
        1 (legacy), 2 (per-thread) or a handle.
    """

    def __init__(self, values: Any, stream: int | None = None) -> None:
        host = np.ascontiguousarray(values)
        self._memory = _Memory(host.nbytes)
        self._address = self._memory.address
        self.shape: tuple[int, ...] = np.shape(values)
        self.strides: tuple[int, ...] = host.reshape(self.shape).strides
        self.dtype = host.dtype
        self.stream = stream
        self.read_only = False
        self.fill_from(host.reshape(self.shape))

    @classmethod
    def empty(cls, shape: int | tuple[int, ...], dtype: Any = np.float64) -> DeviceArray:
        """Return an array of fresh memory: every byte is 0xCB."""
        array = cls.__new__(cls)
        like = np.broadcast_to(np.empty((), dtype), shape)
        array._memory = _Memory(like.size * like.itemsize)
        array._address = array._memory.address
        array.shape, array.dtype, array.stream, array.read_only = like.shape, like.dtype, None, False
        array.strides = _packed(like)
        return array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self._address if self.size else 0, self.read_only),
            "strides": self.strides,
            "version": 3,
            "stream": self.stream,
        }

    @property
    def address(self) -> int:
        """Device address of the first element."""
        return self._address

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> DeviceArray:
        """Return a view that shares the memory; basic indexing only."""
        stand_in = self._stand_in()
        part = stand_in[index]
        if not isinstance(part, np.ndarray):
            part = stand_in[(*index, ...) if isinstance(index, tuple) else (index, ...)]
        if part.base is None:
            raise TypeError("a device array takes basic indexing only: integers, slices, None and ...")
        return self._view(part, part.ctypes.data - stand_in.ctypes.data)

    def reshape(self, *shape: int) -> DeviceArray:
        """Return a view of another shape; only where no copy is needed."""
        stand_in = self._stand_in()
        part = stand_in.reshape(*shape)
        if not np.shares_memory(part, stand_in) and self.size:
            raise TypeError("this shape would need a copy")
        return self._view(part, 0)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Copy to the host, synchronously; waits for the streams that synchronise with the legacy one."""
        low, count = self._span()
        raw = np.empty(count, np.uint8)
        if count:
            _check(driver.cuMemcpyDtoH(raw.ctypes.data, self._address + low, count))
        view = np.ndarray(self.shape, self.dtype, raw.data if count else None, -low if count else 0, self.strides)
        return view.copy()

    def fill_from(self, values: Any) -> None:
        """Copy `values` here, synchronously."""
        host = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), self.shape))
        if not host.nbytes:
            return
        low, count = self._span()
        if count == host.nbytes and self.strides == host.strides:
            _check(driver.cuMemcpyHtoD(self._address, host.ctypes.data, count))
            return
        raw = np.empty(count, np.uint8)
        _check(driver.cuMemcpyDtoH(raw.ctypes.data, self._address + low, count))
        np.ndarray(self.shape, self.dtype, raw.data, -low, self.strides)[...] = host
        _check(driver.cuMemcpyHtoD(self._address + low, raw.ctypes.data, count))

    def _view(self, part: np.ndarray[Any, Any], offset: int) -> DeviceArray:
        array = type(self).__new__(type(self))
        array._memory, array._address = self._memory, self._address + offset
        array.shape, array.strides, array.dtype = part.shape, part.strides, part.dtype
        array.stream, array.read_only = self.stream, self.read_only
        return array

    def _stand_in(self) -> np.ndarray[Any, Any]:
        """Return an array of the same layout whose elements are never touched."""
        low, count = self._span()
        raw = np.empty(max(count, 1), np.uint8)
        return np.ndarray(self.shape, self.dtype, raw.data if count else None, -low if count else 0, self.strides)

    def _span(self) -> tuple[int, int]:
        """Return the first byte relative to the address (not positive), and the bytes from there to the last."""
        if not self.size:
            return 0, 0
        reach = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        low = sum(step for step in reach if step < 0)
        return low, sum(step for step in reach if step > 0) - low + self.dtype.itemsize


class Mirror:
    """Arrays of the host in device memory, in which views of one array are views of one."""

    def __init__(self) -> None:
        self._roots: dict[int, tuple[np.ndarray[Any, Any], DeviceArray]] = {}

    def __call__(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        """Return the array in device memory."""
        root = self._root(array)
        if id(root) not in self._roots:
            self._roots[id(root)] = root, DeviceArray(root)
        whole = self._roots[id(root)][1]
        return whole._view(array, array.ctypes.data - root.ctypes.data if array.size else 0)

    def back(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return what an array holds now on the device."""
        return self(array).to_numpy()

    @staticmethod
    def _root(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array


class _Memory:
    """One allocation of the current context (of device 0 if there is none), freed when nothing refers to it."""

    _unfreed: ClassVar[list[tuple[Any, int]]] = []  # a capture was in the way

    def __init__(self, nbytes: int) -> None:
        _check(driver.cuInit(0))
        if not int(_check(driver.cuCtxGetCurrent())):
            _check(driver.cuCtxSetCurrent(_check(driver.cuDevicePrimaryCtxRetain(0))))
        while self._unfreed and self._free(*self._unfreed[-1]):
            self._unfreed.pop()
        self.context = _check(driver.cuCtxGetCurrent())
        self.address = int(_check(driver.cuMemAlloc(max(nbytes, 1))))

    def __del__(self) -> None:
        address = getattr(self, "address", 0)
        if address and not self._free(self.context, address):
            self._unfreed.append((self.context, address))

    @staticmethod
    def _free(context: Any, address: int) -> bool:
        driver.cuCtxPushCurrent(context)  # whichever thread the collector runs in
        (result,) = driver.cuMemFree(address)
        driver.cuCtxPopCurrent()
        return bool(result != driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)


def _packed(like: np.ndarray[Any, Any]) -> tuple[int, ...]:
    strides, step = [], like.itemsize
    for n in reversed(like.shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _check(result: tuple[Any, ...]) -> Any:
    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the driver answered {result[0]!r}")
    return result[1] if len(result) > 1 else None
