"""Faults in ``eagle_cpu._native`` made on purpose: a sanitizer that says nothing of them is not at work there.

``python canary.py FAULT`` is run with the sanitizer. The module itself reads the head of a NumPy array: forging what an
array says of itself leads it astray.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from eagle_cpu.team import JobList

C = ctypes.CDLL(None)
C.malloc.restype = ctypes.c_void_p


class Head(ctypes.Structure):
    """The beginning of an array object (``planes.h``)."""

    _fields_ = (
        ("references", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("axes", ctypes.c_int),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
    )


def watched(array: np.ndarray) -> tuple[JobList, Head]:
    """A list of one job that looks at the array before it runs, and the array's head."""
    plane = (array, array.ctypes.data, array.shape, array.strides)
    return JobList([(1, 0, 0, 1, 1.0)], [plane]), Head.from_address(id(array))


def overrun() -> None:
    """Read past a block of the heap: an array of one axis whose shape has no room for one."""
    jobs, head = watched(np.zeros(3))
    head.shape = C.malloc(4)
    jobs.moved()


def undefined() -> None:
    """Read a number where none can lie."""
    jobs, head = watched(np.zeros(3))
    head.shape = C.malloc(32) + 1
    jobs.moved()


def leak() -> None:
    """Forget what lists have allocated: a list's first member is a vector, and a vector of zeros is an empty one."""
    for _ in range(100):
        jobs, _ = watched(np.zeros(3))
        offset = ctypes.c_int32.from_address(id(jobs) + object.__basicsize__).value  # in an instance of nanobind's
        ctypes.memset(id(jobs) + offset, 0, 24)


def reference() -> None:
    """Keep a list from ever being freed."""
    jobs, _ = watched(np.zeros(3))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(jobs))


def race() -> None:
    """Write a shape, without the interpreter's lock, while the module reads it."""
    jobs, head = watched(np.zeros(3))
    shape = head.shape
    end = time.monotonic() + 20
    sys.setswitchinterval(1e-6)

    def write() -> None:
        while time.monotonic() < end:
            C.memset(ctypes.c_void_p(shape), 0, ctypes.c_size_t(8))

    threading.Thread(target=write, daemon=True).start()
    while time.monotonic() < end:
        jobs.moved()


FAULTS: dict[str, Callable[[], None]] = {one.__name__: one for one in (overrun, undefined, leak, reference, race)}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
