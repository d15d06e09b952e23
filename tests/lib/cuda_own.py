"""Streams and events of the caller's own, as somebody who works with the driver has them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cuda.bindings import driver

__all__ = ["call", "done", "leaves_nothing", "own_stream", "use_device"]

NON_BLOCKING = 1


def call(name: str, *arguments: Any) -> Any:
    """Call the driver; anything but success is a failure of the test."""
    code, *found = getattr(driver, name)(*arguments)
    assert int(code) == 0, f"{name} answered {code!r}"
    return found[0] if len(found) == 1 else tuple(found)


@contextmanager
def own_stream(*, blocking: bool = False) -> Iterator[int]:
    """A stream that eagle did not make; by default one that the legacy default stream does not wait for."""
    stream = call("cuStreamCreate", 0 if blocking else NON_BLOCKING)
    try:
        yield int(stream)
    finally:
        call("cuStreamSynchronize", stream)
        call("cuStreamDestroy", stream)


def use_device(ordinal: int = 0) -> None:
    """Make the primary context of a device this thread's current one, as every library does before its first call."""
    call("cuInit", 0)
    call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", call("cuDeviceGet", ordinal)))


def done(stream: int) -> bool:
    """Whether everything queued on a stream has run."""
    return int(driver.cuStreamQuery(driver.CUstream(stream))[0]) == 0


@contextmanager
def leaves_nothing(device: Any) -> Iterator[None]:
    """Fail if there are more or fewer objects of the driver after the block than before it.

    Modules are left out: eagle's own kernels are loaded at their first use and stay for the process. A real device does
    not count its objects: there the block is run, and that is all.
    """
    if getattr(device, "real", False):
        yield
        return
    gc.collect()
    device.settle()
    before = device.live() | {"modules": 0}
    yield
    gc.collect()
    device.settle()
    assert device.live() | {"modules": 0} == before
