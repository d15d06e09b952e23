"""
The emulated CUDA device, as tests hold it.

Load it before anything imports ``cuda.bindings`` or ``cuda.core``: they then find these libraries where they look for
NVIDIA's. It is never imported by eagle. ``tests/cuda_emulator/README.md`` says what it can and cannot show.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

from cuda_emulator_build import BUILD, SOURCES, build

__all__ = ["BUILD", "DRIVERS", "Emulator", "build", "hold", "is_loaded", "load", "loaded"]

DRIVERS = {"11.8": 11080, "12.0": 12000, "12.2": 12020, "12.4": 12040, "12.8": 12080, "13.0": 13000, "13.5": 13050}
KINDS = ("allocations", "streams", "events", "graphs", "execs", "modules", "user_objects", "captures")

_loaded: Emulator | None = None


class Emulator:
    """
    Controls of the emulated device of this process.

    Parameters
    ----------
    folder
        Where the two libraries are.
    driver
        The driver version it poses as, a key of `DRIVERS`. Fixed for the life of the process, because cuda-bindings
        looks its functions up once.
    devices
        How many devices there are.
    """

    def __init__(self, folder: Path, driver: str, devices: int) -> None:
        self.driver = driver
        self.devices = devices
        self._nvrtc = ctypes.CDLL(str(folder / "libnvrtc.so.13"), mode=ctypes.RTLD_GLOBAL)
        self._nvrtc.eagleNvrtcConfigure(str(SOURCES / "nvrtc").encode(), str(BUILD / "kernels").encode())
        self._cuda = ctypes.CDLL(str(folder / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
        self._cuda.eagleEmulatorConfigure(DRIVERS[driver], devices)
        self._cuda.eagleEmulatorTrace.restype = ctypes.c_char_p
        self._cuda.eagleEmulatorCalls.restype = ctypes.c_char_p
        self._cuda.eagleEmulatorLive.restype = ctypes.c_long
        self._cuda.eagleEmulatorPending.restype = ctypes.c_long

    def seed(self, number: int) -> None:
        """Choose the order in which pending operations will run; ``number % 4`` chooses the kind of order."""
        self._cuda.eagleEmulatorSeed(ctypes.c_uint(number))

    def capacity(self, nbytes: int) -> None:
        """Let each device have so many bytes of memory, until the next reset; what is allocated stays."""
        self._cuda.eagleEmulatorCapacity(ctypes.c_ulong(nbytes))

    def reset(self) -> None:
        """Forget a fault, what is pending (it never runs), captures in flight, the trace and the count of calls."""
        self._cuda.eagleEmulatorReset()

    def live(self) -> dict[str, int]:
        """Count the live objects of each kind, in all contexts."""
        return {kind: int(self._cuda.eagleEmulatorLive(index)) for index, kind in enumerate(KINDS)}

    def pending(self) -> int:
        """Count the operations that have been enqueued and have not run."""
        return int(self._cuda.eagleEmulatorPending())

    def run(self, operations: int = -1) -> None:
        """Let the device run so many pending operations, in a legal order; all of them by default."""
        self._cuda.eagleEmulatorRun(ctypes.c_long(operations))

    def settle(self) -> None:
        """Wait until the callbacks that release user objects have returned."""
        self._cuda.eagleEmulatorSettle()

    def trace(self) -> list[str]:
        """Name the operations that ran since the last reset, in their order."""
        return [line for line in self._cuda.eagleEmulatorTrace().decode().split("\n") if line]

    def calls(self) -> dict[str, int]:
        """Count the calls of each driver function since the last reset."""
        lines = (line.rsplit(" ", 1) for line in self._cuda.eagleEmulatorCalls().decode().split("\n") if line)
        return {name: int(count) for name, count in lines}


def load(driver: str = "13.0", devices: int = 1) -> Emulator:
    """
    Load the emulated device into this process; a second call returns the same one.

    Raises
    ------
    RuntimeError
        If cuda-bindings has looked for the driver already, another version or number of devices is loaded, or the
        emulator does not compile.
    """
    global _loaded
    if _loaded is not None:
        if (_loaded.driver, _loaded.devices) != (driver, devices):
            raise RuntimeError(f"this process holds driver {_loaded.driver} with {_loaded.devices} devices for good")
        return _loaded
    if "cuda.bindings.driver" in sys.modules:
        raise RuntimeError("cuda.bindings.driver is imported already: load the emulator before it")
    if driver not in DRIVERS:
        raise RuntimeError(f"no driver {driver!r}: choose from {', '.join(DRIVERS)}")
    os.environ.setdefault("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING", "1")
    _loaded = Emulator(build(), driver, devices)
    return _loaded


def hold(device: Any) -> None:
    """Have `loaded` return a real device that has the controls of an emulated one (``pytest --real-gpu``)."""
    global _loaded
    _loaded = device


def is_loaded() -> bool:
    """Whether this process has a device."""
    return _loaded is not None


def loaded() -> Emulator:
    """Return the device of this process; RuntimeError if there is none."""
    if _loaded is None:
        raise RuntimeError("no emulated device in this process: run pytest with --emulated")
    return _loaded
