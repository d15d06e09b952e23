"""What eagle_warp uses of Warp on a device, over the CUDA device of the tests: Warp loads no emulated driver.

The names are Warp's; `tests/eagle_warp/test_stand_in.py` compares them with the real ones. Arrays are of float64 with
one axis, and the kernels are two of the tests' own.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import cuda_frame
import numpy as np
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE
from cuda_own import call, use_device

__all__ = ["capture", "kernels", "module", "start"]

NON_BLOCKING = 1


class float64:  # noqa: N801 - Warp's name
    """``warp.float64``."""


class Device:
    """``warp.Device``. It has a stream of its own, which does not wait for the legacy default one."""

    is_cpu = False
    is_cuda = True

    def __init__(self, ordinal: int) -> None:
        use_device(ordinal)
        self.ordinal = ordinal
        self.stream = Stream(self)

    def set_stream(self, stream: Stream, sync: bool = True) -> None:
        """Make a stream the current one, by default after the one before."""
        if sync:
            event = call("cuEventCreate", 0)
            call("cuEventRecord", event, self.stream.cuda_stream)
            call("cuStreamWaitEvent", stream.cuda_stream, event, 0)
        self.stream = stream


class Stream:
    """``warp.Stream``. What is known of a handle goes when an object that was made of it goes."""

    known: dict[int, int] = {}  # noqa: RUF012 - of the whole library

    def __init__(self, device: Any = None, priority: int = 0, **given: int) -> None:
        self.device = device if isinstance(device, Device) else get_device(device)
        self._owner = "cuda_stream" not in given
        self.cuda_stream = int(given.get("cuda_stream") or call("cuStreamCreate", NON_BLOCKING))
        self.known[self.cuda_stream] = 1

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.cuda_stream

    def __del__(self) -> None:
        self.known.pop(self.cuda_stream, None)


class ScopedStream:
    """``warp.ScopedStream``."""

    def __init__(self, stream: Stream, sync_enter: bool = True, sync_exit: bool = False) -> None:
        self.stream, self.sync_enter, self.sync_exit = stream, sync_enter, sync_exit
        self.device = get_device(stream.device)  # the one of now: eagle keeps streams for longer than a test

    def __enter__(self) -> Stream:
        self.saved_stream = self.device.stream
        self.device.set_stream(self.stream, self.sync_enter)
        return self.stream

    def __exit__(self, *error: object) -> None:
        self.device.set_stream(self.saved_stream, self.sync_exit)


class array:  # noqa: N801 - Warp's name
    """``warp.array``, and the annotation of an argument when it is given no values."""

    def __init__(self, data: Any = None, dtype: Any = float64, device: Any = None, **over: Any) -> None:
        self.dtype, self.ndim = dtype, 1
        if data is not None:
            self.device = get_device(device)
            use_device(self.device.ordinal)
            self._memory = DeviceArray(np.asarray(data, np.float64))
            use_device(0)
            self.ptr, self.shape, self.strides = self._memory.address, self._memory.shape, self._memory.strides
        elif "ptr" in over:
            self.device = get_device(device)
            self.ptr, self.shape, self.strides = over["ptr"], over["shape"], over["strides"]

    def numpy(self) -> np.ndarray[Any, Any]:
        """Wait for the current stream, and copy to the host."""
        call("cuStreamSynchronize", self.device.stream.cuda_stream)
        return self._memory.to_numpy()


class Function:
    """``warp.Function``."""


class Kernel:
    """``warp.Kernel``."""

    def __init__(self, func: Callable[..., None], **types: Any) -> None:
        arguments = [SimpleNamespace(label=label, type=kind) for label, kind in types.items()]
        tree = ast.parse(textwrap.dedent(inspect.getsource(func)))
        self.func = func
        self.adj = SimpleNamespace(args=arguments, tree=tree, func=func)


class Launch:
    """``warp.Launch``, as `launch` records it."""

    def __init__(self, kernel: Kernel, arguments: Sequence[Any], device: Device) -> None:
        self.kernel, self.device = kernel, device
        self._arguments = arguments

    def launch(self, stream: Stream | None = None) -> None:
        """Launch it on the device's current stream."""
        compiled = cuda_frame.compiled(SOURCE, self.kernel.func.__name__)
        flat: list[Any] = []
        for one in self._arguments:
            flat += [one.ptr, np.int64(one.strides[0])] if isinstance(one, array) else [np.float64(one)]
        threads = next(one.shape[0] for one in self._arguments if isinstance(one, array))
        with cuda_frame.use((stream or self.device.stream).cuda_stream):
            cuda_frame.run(compiled, *flat, threads=threads)


class Graph:
    """``warp.Graph``, of a device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.graph: Any = None


@functools.cache
def _devices() -> dict[int, Device]:
    return {}


def get_device(ident: Any = None) -> Device:
    """Return a device by its name, ``"cuda:0"``; ``ValueError`` for one there is not."""
    ordinal = ident.ordinal if isinstance(ident, Device) else int(str(ident or "cuda:0").rpartition(":")[2])
    if ordinal >= int(call("cuDeviceGetCount")):
        raise ValueError(f"no device {ident}")
    if ordinal not in _devices():
        _devices()[ordinal] = Device(ordinal)
    return _devices()[ordinal]


def launch(
    kernel: Kernel,
    dim: Any,
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
    device: Any = None,
    block_dim: int | None = None,
    record_cmd: bool = False,
    record_tape: bool = True,
) -> Launch | None:
    """Launch a kernel, or record its launch; its code is loaded now."""
    cuda_frame.compiled(SOURCE, kernel.func.__name__)
    recorded = Launch(kernel, [*inputs, *outputs], get_device(device))
    if record_cmd:
        return recorded
    recorded.launch()
    return None


@contextmanager
def capture(device: Device) -> Iterator[Graph]:
    """Capture what is launched on the device's current stream; this is the tests', in place of ``ScopedCapture``."""
    graph, stream = Graph(device), device.stream.cuda_stream
    call("cuStreamBeginCapture", stream, 1)
    yield graph
    graph.graph = SimpleNamespace(value=int(call("cuStreamEndCapture", stream)))


def init() -> None:
    """Initialise it, as it is."""


def scale(a: Any, factor: Any, out: Any) -> None:
    """The code that says what the kernel of this name reads and writes."""
    out[0] = a[0] * factor


def shift(a: Any, by: Any, out: Any) -> None:
    """Likewise."""
    out[0] = a[0] + by


@functools.cache
def module() -> ModuleType:
    """Return it as the module ``warp``: one object, which eagle_warp keeps once it has imported it."""
    warp = ModuleType("warp")
    types = SimpleNamespace(is_array=lambda kind: isinstance(kind, array))
    vars(warp).update(
        array=array,
        float64=float64,
        Stream=Stream,
        ScopedStream=ScopedStream,
        Graph=Graph,
        Kernel=Kernel,
        Function=Function,
        get_device=get_device,
        launch=launch,
        init=init,
        types=types,
    )
    return warp


def start() -> ModuleType:
    """Begin anew on a device that was reset."""
    _devices().clear()
    Stream.known.clear()
    for kernel in vars(kernels()).values():
        cuda_frame.compiled(SOURCE, kernel.func.__name__)
    return module()


@functools.cache
def kernels() -> SimpleNamespace:
    """Return the kernels ``scale`` and ``shift``, whose first array is read and whose last is written."""
    return SimpleNamespace(
        scale=Kernel(scale, a=array(), factor=float64, out=array()),
        shift=Kernel(shift, a=array(), by=float64, out=array()),
    )
