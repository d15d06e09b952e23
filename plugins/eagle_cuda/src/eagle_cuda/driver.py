"""The driver API: loaded on first use, every call checked, and no call in a process that cannot use it."""

from __future__ import annotations

import functools
import os
from typing import Any

from eagle.plugin import BackendUnavailable
from eagle_cuda.abilities import OLDEST, Abilities
from eagle_cuda.errors import CudaError

__all__ = ["abilities", "api", "call", "forget_lost_context", "in_forked_child", "why_not"]

# The driver writes these once the context is lost: every later call gives them again (CUDA driver API, CUresult).
_STICKY = frozenset({700, 702, 709, 710, 713, 714, 715, 716, 717, 718, 719, 720})
_NO_MEMORY = 2
_NO_DEVICE = 100
_NOT_INITIALIZED = 3

_lost: list[str] = []


@functools.cache
def api() -> Any:
    """Return ``cuda.bindings.driver``, initialised."""
    from cuda.bindings import driver

    _checked("cuInit", driver.cuInit(0))
    _owner.setdefault("pid", os.getpid())  # only now: a process without a device forks as it likes
    return driver


def call(function: str, *arguments: Any) -> Any:
    """Call a function of the driver and return what it gives: nothing, one value, or a tuple of them.

    Raises
    ------
    CudaError
        It failed, or the driver is too old to have it.
    BackendUnavailable
        The process is a forked child of the one that uses the device.
    """
    if in_forked_child():
        raise BackendUnavailable(
            "this process was forked from one that uses the CUDA device",
            why="a CUDA context does not survive fork",
            fix="Start processes with multiprocessing's 'spawn', or fork before CUDA is first used.",
        )
    try:
        results = getattr(api(), function)(*arguments)
    except RuntimeError as error:
        if "not found" not in str(error):
            raise
        raise CudaError(f"the driver has no {function}", fix="Install a newer driver.", function=function) from error
    return _checked(function, results)


@functools.cache
def abilities() -> Abilities:
    """Return what the driver of this process can do."""
    return Abilities(int(call("cuDriverGetVersion")))


def why_not() -> str | None:
    """Return None if the driver can run graphs here, else one sentence that says why not and what to do."""
    if in_forked_child():
        return "this process was forked from one that uses the CUDA device; start processes with 'spawn'"
    try:
        version = int(call("cuDriverGetVersion"))
        devices = int(call("cuDeviceGetCount"))
    except ImportError as error:
        return f"cuda-bindings cannot be imported ({error}); reinstall eagle-cuda"
    except CudaError as error:
        if error.code == _NO_DEVICE:
            return "the NVIDIA driver finds no CUDA device; check nvidia-smi and CUDA_VISIBLE_DEVICES"
        if error.code == _NOT_INITIALIZED:
            return "the NVIDIA driver cannot be used in this process, as in a child forked after CUDA was in use"
        return f"the NVIDIA driver does not start: {error}"
    except Exception as error:  # cuda.pathfinder's own class for a library that is not there
        if type(error).__name__ != "DynamicLibNotFoundError":
            raise
        return "there is no NVIDIA driver here (libcuda.so.1 is not found); install it, or use a machine with a GPU"
    if version < OLDEST:
        found, needed = Abilities(version).cuda, Abilities(OLDEST).cuda
        return f"the NVIDIA driver is for CUDA {found} and eagle needs {needed}; update the driver"
    return None if devices else "the NVIDIA driver finds no CUDA device; check nvidia-smi and CUDA_VISIBLE_DEVICES"


def forget_lost_context() -> None:
    """Speak of the next lost context as of the first; for the tests, whose device can be mended."""
    _lost.clear()


def in_forked_child() -> bool:
    """Whether the driver was first used here by a process that this one was forked from."""
    return _owner.get("pid", os.getpid()) != os.getpid()


_owner: dict[str, int] = {}


def _checked(function: str, results: tuple[Any, ...]) -> Any:
    code, *values = results
    if code != 0:
        raise _failure(function, code)
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def _failure(function: str, code: Any) -> CudaError:
    number, name = int(code), getattr(code, "name", str(code))
    if number in _STICKY:
        again = bool(_lost)
        _lost.append(name)
        return CudaError(
            f"the CUDA context of this process is lost{' since an earlier failure' if again else ''}: "
            f"{function} gave {name}",
            why="" if again else "a kernel failed, and after that the driver refuses everything",
            fix="Restart the process." if again else "Restart the process; compute-sanitizer finds the kernel.",
            function=function,
            code=number,
        )
    if number == _NO_MEMORY:
        return CudaError(
            f"the device has no memory left for what is wanted: {function} gave {name}",
            why="arrays of every library in this process, and of other processes, share it",
            fix="Free arrays, empty the memory pools of array libraries, or run fewer samples at a time.",
            function=function,
            code=number,
        )
    return CudaError(f"{function} gave {name}", function=function, code=number)
