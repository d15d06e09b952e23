"""Calling entries as the thread team does, and comparing with the reference evaluator."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
POLL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
MORE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64))


class Run(ctypes.Structure):
    """An ``eagle_run`` as it was before code could ask for more samples."""

    _fields_: ClassVar[Any] = (
        ("size", ctypes.c_uint32),
        ("worker", ctypes.c_uint32),
        ("stop", ctypes.POINTER(ctypes.c_int32)),
        ("poll", ctypes.c_void_p),
    )


class StreamingRun(Run):
    """An ``eagle_run`` that gives more ranges."""

    _fields_: ClassVar[Any] = (("more", ctypes.c_void_p),)


def call(entry: int, address: int, ranges: Sequence[tuple[int, int]], run: Any = None) -> list[int]:
    """Run an entry over ranges one after another and return the codes."""
    native = ENTRY(entry)
    return [native(address, begin, end, run) for begin, end in ranges]


def pieces(samples: int, size: int, *, backwards: bool = False) -> list[tuple[int, int]]:
    """Cut 0..samples into ranges."""
    cuts = [(first, min(first + size, samples)) for first in range(0, samples, size)] or [(0, 0)]
    return cuts[::-1] if backwards else cuts


def assert_same(ours: dict[str, np.ndarray[Any, Any]], theirs: dict[str, np.ndarray[Any, Any]]) -> None:
    """Every array holds the same bits, all NaNs being one."""
    for name in theirs:
        a, b = np.ascontiguousarray(ours[name]), np.ascontiguousarray(theirs[name])
        if a.dtype.kind == "f":
            a, b = (np.where(np.isnan(one), one.dtype.type(np.nan), one) for one in (a, b))
        kind = f"u{a.dtype.itemsize}"
        different = np.argwhere(a.view(kind) != b.view(kind))
        assert not different.size, (
            f"{name} at {different[0]}: {a[tuple(different[0])]!r}, not {b[tuple(different[0])]!r}"
        )
