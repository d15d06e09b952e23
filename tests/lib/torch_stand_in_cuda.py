"""What eagle_torch and its tests use of ``torch.cuda``: streams, the caching allocator, captured graphs.

The allocator is torch's in what matters here: memory that is given back is handed out again on the same stream, also
while a graph is recorded whose kernels still use it; a private pool keeps its memory to itself, and frees it when it
goes.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import cuda_frame
from cuda.bindings import driver
from cuda_own import call, use_device

__all__ = ["CUDAGraph", "ExternalStream", "MemPool", "Stream", "UntypedStorage", "current_stream", "module", "uniform"]

_RELAXED = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
_THREAD_LOCAL = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
_CELL = 512

RANDOM = """
struct State { unsigned long long seed, offset, drawn; bool captured; };

extern "C" __global__ void distribution(double* out, long long step, State state) {
    const long long* seed = (const long long*)state.seed;
    const long long* offset = (const long long*)state.offset;
    *(double*)((char*)out + threadIdx.x * step) = (double)(seed[0] + offset[0] + threadIdx.x);
}
"""


class _State(ctypes.Structure):
    """The state of a generator as captured code gets it."""

    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("drawn", ctypes.c_uint64),
        ("captured", ctypes.c_bool),
    )


class _Here(threading.local):
    stream: Stream | None = None
    pool: MemPool | None = None


_here = _Here()


class Stream:
    """``torch.cuda.Stream``."""

    def __init__(self, device: object = None, priority: int = 0) -> None:
        use_device()
        self.cuda_stream = int(call("cuStreamCreate", 1))
        self._own_event = call("cuEventCreate", 2)

    def __del__(self) -> None:
        driver.cuEventDestroy(self._own_event)

    def synchronize(self) -> None:
        call("cuStreamSynchronize", self.cuda_stream)

    def wait_stream(self, stream: Stream) -> None:
        call("cuEventRecord", self._own_event, stream.cuda_stream or cuda_frame.LEGACY)
        call("cuStreamWaitEvent", self.cuda_stream or cuda_frame.LEGACY, self._own_event, 0)


class ExternalStream(Stream):
    """``torch.cuda.ExternalStream``."""

    def __init__(self, stream_ptr: int, device: object = None) -> None:
        use_device()
        self.cuda_stream = stream_ptr
        self._own_event = call("cuEventCreate", 2)


def current_stream(device: object = None) -> Stream:
    """``torch.cuda.current_stream``; the first one is the legacy default stream."""
    if _here.stream is None:
        _here.stream = ExternalStream(0)
    return _here.stream


@contextmanager
def stream(stream: Stream) -> Iterator[None]:
    """``torch.cuda.stream``."""
    before, _here.stream = current_stream(), stream
    try:
        yield
    finally:
        _here.stream = before


def is_initialized() -> bool:
    """``torch.cuda.is_initialized``."""
    return True


def init() -> None:
    """``torch.cuda.init``."""
    use_device()


def is_current_stream_capturing() -> bool:
    """``torch.cuda.is_current_stream_capturing``."""
    handle = current_stream().cuda_stream
    return bool(handle) and int(call("cuStreamIsCapturing", handle)) == 1


def synchronize() -> None:
    """``torch.cuda.synchronize``."""
    use_device()
    call("cuCtxSynchronize")


class MemPool:
    """``torch.cuda.MemPool``."""

    def __init__(self) -> None:
        self._own_free: dict[tuple[int, int], list[int]] = {}
        self._own_segments: list[int] = []

    def snapshot(self, include_traces: bool = True) -> list[int]:
        return list(self._own_segments)

    def _own_take(self, nbytes: int, handle: int) -> int:
        if free := self._own_free.get((nbytes, handle)):
            return free.pop()
        mode = call("cuThreadExchangeStreamCaptureMode", _RELAXED)
        address = int(call("cuMemAlloc", nbytes))
        call("cuThreadExchangeStreamCaptureMode", mode)
        self._own_segments.append(address)
        return address

    def __del__(self) -> None:
        if not self._own_segments:
            return
        use_device()
        mode = driver.cuThreadExchangeStreamCaptureMode(_RELAXED)[1]
        for address in self._own_segments:
            driver.cuMemFree(address)
        driver.cuThreadExchangeStreamCaptureMode(mode)


_shared = MemPool()


def empty_cache() -> None:
    """``torch.cuda.empty_cache``: what nobody holds of memory that is in no private pool is freed."""
    synchronize()
    for free in _shared._own_free.values():
        for address in free:
            call("cuMemFree", address)
            _shared._own_segments.remove(address)
        free.clear()


@contextmanager
def use_mem_pool(pool: MemPool, device: object = None) -> Iterator[None]:
    """``torch.cuda.use_mem_pool``: the outermost pool of a thread takes what it allocates."""
    before, _here.pool = _here.pool, _here.pool or pool
    try:
        yield
    finally:
        _here.pool = before


class UntypedStorage:
    """``torch.UntypedStorage``, of the thread's pool, or over memory of somebody else's."""

    def __init__(self, nbytes: int, address: int | None = None, keep: object = None) -> None:
        use_device()
        self._own_keep, self._own_key = keep, (nbytes, current_stream().cuda_stream)
        self._own_pool = None if address is not None else _here.pool or _shared
        self._own_address = address if self._own_pool is None else self._own_pool._own_take(*self._own_key)

    def data_ptr(self) -> int:
        assert self._own_address is not None
        return self._own_address

    def __del__(self) -> None:
        if self._own_pool is not None:
            self._own_pool._own_free.setdefault(self._own_key, []).append(self.data_ptr())


class CUDAGraph:
    """``torch.cuda.CUDAGraph``."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._own_keeps, self._own_graph = keep_graph, None

    def raw_cuda_graph(self) -> int:
        if not self._own_keeps:
            raise RuntimeError("You cannot access the raw cudaGraph_t instance unless CUDAGraph has keep_graph=True")
        if self._own_graph is None:
            raise RuntimeError("You cannot access the raw cudaGraph_t instance until capture_end() has been called")
        return int(self._own_graph)

    def capture_begin(self, pool: object = None, capture_error_mode: str = "global") -> None:
        self.reset()
        call("cuStreamBeginCapture", current_stream().cuda_stream, _THREAD_LOCAL)

    def capture_end(self) -> None:
        self._own_graph = call("cuStreamEndCapture", current_stream().cuda_stream)

    def reset(self) -> None:
        if self._own_graph is not None:
            call("cuGraphDestroy", self._own_graph)
        self._own_graph = None


@contextmanager
def graph(cuda_graph: CUDAGraph) -> Iterator[None]:
    """``torch.cuda.graph``."""
    own, pool = Stream(), MemPool()
    own.wait_stream(current_stream())
    with stream(own), use_mem_pool(pool):
        cuda_graph.capture_begin()
        try:
            yield
        finally:
            cuda_graph.capture_end()
    cuda_graph._own_pool = pool  # type: ignore[attr-defined]


_cells: list[int] = []


def uniform(address: int, step: int, count: int) -> None:
    """Launch a kernel that draws numbers, with the state of a generator."""
    if not _cells:
        raw = int(call("cuMemAlloc", 4 * _CELL))
        _cells.extend(-(-raw // _CELL) * _CELL + number * _CELL for number in range(2))
    values = (ctypes.c_uint64(address), ctypes.c_int64(step), _State(_cells[0], _cells[1], 4, True))
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(one) for one in values))
    function = call("cuKernelGetFunction", cuda_frame.compiled(RANDOM, "distribution").handle)
    handle = current_stream().cuda_stream or cuda_frame.LEGACY
    call("cuLaunchKernel", function, 1, 1, 1, count, 1, 1, 0, handle, ctypes.addressof(places), 0)


def compile_kernels() -> None:
    """Compile what `uniform` launches."""
    cuda_frame.compiled(RANDOM, "distribution")


def module() -> ModuleType:
    """Return it as ``torch.cuda``."""
    found = ModuleType("torch.cuda")
    names = (
        Stream,
        ExternalStream,
        current_stream,
        stream,
        init,
        is_initialized,
        is_current_stream_capturing,
        synchronize,
    )
    vars(found).update({one.__name__: one for one in (*names, MemPool, use_mem_pool, empty_cache, CUDAGraph, graph)})
    return found
