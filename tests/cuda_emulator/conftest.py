"""
Each test begins with a device that has forgotten the one before it.

A conftest is imported before the emulator is loaded, so it imports ``cuda`` where it uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def emulator() -> Iterator[Any]:
    """Make device 0 current and choose a seed; forget faults, pending work and captures afterwards."""
    import cuda_emulator
    from cuda.bindings import driver as cu
    from cuda_calls import done, function

    device = cuda_emulator.loaded()
    device.reset()
    device.seed(1)
    done(cu.cuInit(0))
    done(cu.cuCtxSetCurrent(done(cu.cuDevicePrimaryCtxRetain(0))))
    function("add")  # loaded before a test captures, where loading is refused
    yield device
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
    cu.cuStreamDestroy(handle)
