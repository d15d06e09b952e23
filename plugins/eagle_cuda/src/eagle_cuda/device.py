"""A device: its primary context, and the caller's context put back after use."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eagle_cuda.driver import abilities, api, call

__all__ = ["CudaDevice", "device"]


class CudaDevice:
    """One device and its primary context, which every library in the process shares; no other context is used.

    Attributes
    ----------
    ordinal : int
    context : CUcontext
    arch : str
        ``"sm_90"``.
    multiprocessors : int
    abilities : Abilities
        What its driver can do.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.abilities = abilities()
        self.context: Any = call("cuDevicePrimaryCtxRetain", call("cuDeviceGet", ordinal))
        self.arch = f"sm_{self._ask('COMPUTE_CAPABILITY_MAJOR')}{self._ask('COMPUTE_CAPABILITY_MINOR')}"
        self.multiprocessors = self._ask("MULTIPROCESSOR_COUNT")

    def _ask(self, attribute: str) -> int:
        wanted = getattr(api().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
        return int(call("cuDeviceGetAttribute", wanted, self.ordinal))

    def describe(self) -> str:
        """Return one sentence on the device and its driver."""
        name = call("cuDeviceGetName", 128, self.ordinal).split(b"\0")[0].decode("utf-8", "replace")
        return f"device {self.ordinal} is {name} ({self.arch}), with a driver for CUDA {self.abilities.cuda}"

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make its context the calling thread's current one, and put the caller's back at the end."""
        before = call("cuCtxGetCurrent")
        if int(before) == int(self.context):
            yield
            return
        call("cuCtxSetCurrent", self.context)
        try:
            yield
        finally:
            call("cuCtxSetCurrent", before)


@functools.cache
def device(ordinal: int) -> CudaDevice:
    """Return the device with this ordinal; one object per process."""
    return CudaDevice(ordinal)
