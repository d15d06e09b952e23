"""The guards of a graph on the device, and what its conditionals did, read back after a run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import BuildError, Guard, PlaneError, adapter_of
from eagle_cuda.driver import call
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.modules import function

__all__ = ["Conditions"]

# As `eagle::Guard`, `eagle::Record` and `eagle::Fault` in kernels/conditions.cu.
_GUARD = np.dtype(
    [("cell", "u8"), ("baseline", "u8"), ("sign", "u8"), ("infinity", "u8")]
    + [(name, "i4") for name in ("size", "truth", "negate", "always")]
)
_RECORD = np.dtype([("iterations", "u8"), ("limited", "u4"), ("entered", "u4"), ("nan", "u4"), ("unused", "u4")])
_FAULT = np.dtype([("failed", "u4"), ("halted", "u4")])
_HALTED = 4  # where it is in there

# Sign bit and infinity of the formats a guard can read.
_FLOATS = {
    "float16": (0x8000, 0x7C00),
    "bfloat16": (0x8000, 0x7F80),
    "float32": (0x80000000, 0x7F800000),
    "float64": (0x8000000000000000, 0x7FF0000000000000),
}
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


@dataclass(frozen=True)
class _Entry:
    """One conditional: what it reads, and who is told about it."""

    guard: Any
    blame: Callable[[BaseException], None]
    report: Callable[[int, bool], object] | None
    loop: bool


class Conditions:
    """The conditionals of one graph, numbered as they are lowered."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._guards = 0
        self._records = 0
        self._fault = 0
        self._stop: Any = None
        self._stop_address = 0

    def add(
        self,
        guard: Guard | None,
        blame: Callable[[BaseException], None],
        report: Callable[[int, bool], object] | None = None,
        *,
        loop: bool = False,
    ) -> int:
        """Take in a conditional and return its number. `blame` adds its node to an exception."""
        self._entries.append(_Entry(_packed(guard), blame, report, loop))
        return len(self._entries) - 1

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def loops(self) -> bool:
        """Whether any of them is a loop."""
        return any(entry.loop for entry in self._entries)

    @property
    def allocated(self) -> bool:
        """Whether they have their memory on the device."""
        return self._records != 0

    # building ---------------------------------------------------------------------------------------------------------

    def allocate(self, builder: GraphBuilder) -> None:
        """Put the guards into device memory, beside room for what the conditionals will report."""
        count = len(self._entries)
        own = builder.holdings.own
        block = call("cuMemAlloc", count * (_GUARD.itemsize + _RECORD.itemsize) + _FAULT.itemsize)
        own("cuMemFree", block)
        self._guards = int(block)
        self._records = self._guards + count * _GUARD.itemsize
        self._fault = self._records + count * _RECORD.itemsize
        guards = np.array([entry.guard for entry in self._entries], _GUARD)
        call("cuMemcpyHtoDAsync", self._guards, guards.ctypes.data, guards.nbytes, builder.stream)
        self._clear(builder.stream)
        call("cuStreamSynchronize", builder.stream)
        word = call("cuMemHostAlloc", 8, _MAPPED)
        own("cuMemFreeHost", word)
        self._stop = ctypes.c_uint32.from_address(int(word))
        self._stop.value = 0
        self._stop_address = int(call("cuMemHostGetDevicePointer", word, 0))

    def decide(self, builder: GraphBuilder, number: int, condition: Any, after: Sequence[int]) -> int:
        """Add the kernel that decides whether a conditional runs."""
        return builder.kernel(
            function(builder.device.ordinal, "conditions", "eagle_decide"),
            [(int(condition), ctypes.c_uint64), *self._places(number)],
            after,
            threads=1,
        )

    def loop(
        self,
        builder: GraphBuilder,
        number: int,
        condition: Any,
        limit: int | None,
        after: Sequence[int],
        *,
        again: bool,
    ) -> int:
        """Add the kernel that decides whether a loop goes on: before the loop, or `again` at the end of its body."""
        name = "eagle_again" if again else "eagle_enter"
        return builder.kernel(
            function(builder.device.ordinal, "conditions", name),
            [
                (int(condition), ctypes.c_uint64),
                *self._places(number),
                (self._stop_address, ctypes.c_void_p),
                (-1 if limit is None else limit, ctypes.c_longlong),
            ],
            after,
            threads=1,
        )

    def _places(self, number: int) -> list[tuple[int, Any]]:
        guard, record = self._guards + number * _GUARD.itemsize, self._records + number * _RECORD.itemsize
        return [(guard, ctypes.c_void_p), (record, ctypes.c_void_p), (self._fault, ctypes.c_void_p)]

    # running ----------------------------------------------------------------------------------------------------------

    def begin(self, stream: Any) -> None:
        """Queue what every repetition begins with: to know whether one before it failed."""
        if self.allocated:
            call("cuMemcpyDtoDAsync", self._fault + _HALTED, self._fault, 4, stream)

    # after a run ------------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Have every loop end before its next iteration."""
        if self._stop is not None:
            self._stop.value = 1

    def settle(self, stream: Any) -> None:
        """Wait for the stream, report what the conditionals did, and raise what their guards found.

        Raises
        ------
        PlaneError
            A guard or its baseline was NaN.
        """
        if not self.allocated:
            return
        records = np.zeros(len(self._entries), _RECORD)
        call("cuMemcpyDtoHAsync", records.ctypes.data, self._records, records.nbytes, stream)
        self._clear(stream)
        call("cuStreamSynchronize", stream)
        self._stop.value = 0
        for entry, record in zip(self._entries, records, strict=True):
            if entry.report is not None and record["entered"]:
                entry.report(int(record["iterations"]), bool(record["limited"]))
        for entry, record in zip(self._entries, records, strict=True):
            if record["nan"]:
                error = _nan("guard" if record["nan"] == 1 else "baseline")
                entry.blame(error)
                raise error

    def _clear(self, stream: Any) -> None:
        call("cuMemsetD8Async", self._records, 0, len(self._entries) * _RECORD.itemsize + _FAULT.itemsize, stream)


_MAPPED = 0x01 | 0x02  # CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP


def _packed(guard: Guard | None) -> Any:
    row = np.zeros((), _GUARD)
    if guard is None:
        row["always"] = 1
        return row[()]
    memory = adapter_of(guard.array).describe(guard.array)
    row["cell"] = memory.address + guard.index * memory.strides[0]
    row["size"], row["negate"] = memory.itemsize, guard.negate
    if memory.dtype in _FLOATS:
        row["sign"], row["infinity"] = _FLOATS[memory.dtype]
    elif memory.dtype == "bool":
        row["truth"] = 1
    elif memory.dtype not in _INTEGERS:
        raise BuildError(
            f"a guard cannot read {memory.dtype} on the device", fix="Use an integer, a bool or float16 to float64."
        )
    if guard.baseline is not None:
        base = adapter_of(guard.baseline).describe(guard.baseline)
        row["baseline"] = base.address + guard.baseline_index * base.strides[0]
    return row[()]


def _nan(plane: str) -> PlaneError:
    return PlaneError(
        "the cell a guard reads is NaN", why="NaN differs from everything", fix="Write a number.", planes=(plane,)
    )
