"""
Each test begins with a device that has forgotten the one before it.

A conftest is imported before the emulator is loaded, so it imports ``cuda`` where it uses it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def emulator() -> Iterator[Any]:
    """
    Make device 0 current and choose a seed; forget faults, pending work and captures afterwards.

    No garbage is collected meanwhile: what earlier tests left in cycles would be freed in the middle of a capture,
    where freeing is refused, or between two counts.
    """
    import cuda_emulator
    from cuda.bindings import driver as cu
    from cuda_calls import done, function

    device = cuda_emulator.loaded()
    device.reset()
    if not getattr(device, "real", False):  # which would skip a test that then chooses its own
        device.seed(1)
    done(cu.cuInit(0))
    done(cu.cuCtxSetCurrent(done(cu.cuDevicePrimaryCtxRetain(0))))
    function("add")  # loaded before a test captures, where loading is refused
    gc.disable()
    try:
        yield device
    finally:
        gc.enable()
    device.reset()


@pytest.fixture
def stream() -> Iterator[Any]:
    """Give a non-blocking stream."""
    yield from _stream()


@pytest.fixture
def other() -> Iterator[Any]:
    """Give another non-blocking stream."""
    yield from _stream()


def _stream() -> Iterator[Any]:
    from cuda.bindings import driver as cu
    from cuda_calls import new_stream

    handle = new_stream()
    yield handle
    result, *graph = cu.cuStreamEndCapture(handle)  # a test that failed or was skipped may have left one
    if int(result) == 0:
        cu.cuGraphDestroy(*graph)
    cu.cuStreamDestroy(handle)
