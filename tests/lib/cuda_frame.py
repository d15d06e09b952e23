"""A stand-in for an array library: it launches on a current stream, which eagle exchanges through `Streams`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream, launch

from eagle.plugin import Device as DeviceName
from eagle.plugin import Framework, Streams, hookimpl

__all__ = ["FrameStreams", "compiled", "current", "run", "use"]

LEGACY = 1


class _Here(threading.local):
    handle = LEGACY


_here = _Here()


def current() -> int:
    """The handle of the stream it launches on."""
    return _here.handle


@contextmanager
def use(handle: int) -> Iterator[None]:
    """Launch on another stream for a while."""
    before, _here.handle = _here.handle, handle
    try:
        yield
    finally:
        _here.handle = before


class FrameStreams(Streams):
    """What eagle is told of it."""

    def current(self, device: DeviceName, /) -> int:
        return current()

    def use(self, device: DeviceName, stream: int, /) -> Any:
        return use(stream)


EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_framework() -> Framework:
    return Framework(name="cuda_frame", needs="cuda_frame", streams=FrameStreams())


@functools.cache
def compiled(source: str, name: str) -> Any:
    """A kernel of some CUDA C++, compiled and loaded once."""
    device = Device()
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    return Program(source, "c++", options).compile("cubin").get_kernel(name)


def run(kernel: Any, *arguments: Any, threads: int = 1, blocks: int = 1) -> None:
    """Launch a kernel on the current stream; integers are addresses, the rest typed NumPy scalars."""
    config = LaunchConfig(grid=blocks, block=threads)
    launch(Stream.from_handle(current()), config, kernel, *(_address(one) for one in arguments))


def _address(argument: Any) -> Any:
    return argument if isinstance(argument, (np.generic, int)) else argument.address
