"""What a run leaves on the device for the host: reports and failures, in one block that is read once after it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle_cuda.driver import call
from eagle_cuda.graph_builder import GraphBuilder

__all__ = ["Ledger", "Record"]

_OUTCOME = np.dtype([("failed", "u4"), ("halted", "u4")])  # as `Outcome` in the kernels
_HALTED = 4  # where it is in there
_ANSWER = 4  # behind the word that stops loops
_MAPPED = 0x01 | 0x02  # CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """The words of one node.

    Attributes
    ----------
    offset : int
    dtype : dtype
        A structure as the kernels have it; all zero before a run.
    order : tuple of int
        The place of its node in the graph, and of that in what it stands in: of several failures the first is raised.
    read : callable
        ``read(words)``, called after a run: it reports what the node did, and returns its failure or None.
    blame : callable
        Adds the node to an exception.
    """

    offset: int
    dtype: np.dtype[Any]
    order: tuple[int, ...]
    read: Callable[[Any], Exception | None]
    blame: Callable[[BaseException], None]


class Ledger:
    """The records of one graph, the word that says that something failed, and the one by which the host stops loops.

    Attributes
    ----------
    stoppable : bool
        Whether anything in the graph may have to be stopped.
    faults : bool
        Whether a kernel in the graph can fault.
    decided_by_host : bool
        Whether the host decides what conditionals do.
    watched : bool
        Whether the host has to see that nothing failed before it launches a repetition.
    """

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._size = _OUTCOME.itemsize
        self._block = 0
        self._stop: Any = None
        self._answer: Any = None
        self._stop_address = 0
        self._begun = False
        self.stoppable = False
        self.faults = False
        self.decided_by_host = False
        self.watched = False

    def add(
        self,
        dtype: np.dtype[Any],
        order: tuple[int, ...],
        read: Callable[[Any], Exception | None],
        blame: Callable[[BaseException], None],
    ) -> Record:
        """Make room for a node's words. The attributes are those of `Record`."""
        record = Record(self._size, dtype, order, read, blame)
        self._size += -(-dtype.itemsize // 8) * 8
        self._records.append(record)
        return record

    # building ---------------------------------------------------------------------------------------------------------

    def allocate(self, builder: GraphBuilder) -> None:
        """Make the block on the device, all zero, when the first kernel that needs it is added."""
        if self._block:
            return
        own = builder.holdings.own
        block = call("cuMemAlloc", self._size)
        own("cuMemFree", block)
        self._block = int(block)
        self._clear(builder.stream)
        call("cuStreamSynchronize", builder.stream)
        word = call("cuMemHostAlloc", 8, _MAPPED)
        own("cuMemFreeHost", word)
        self._stop, self._answer = (ctypes.c_uint32.from_address(int(word) + place) for place in (0, _ANSWER))
        self._stop.value = self._answer.value = 0
        self._stop_address = int(call("cuMemHostGetDevicePointer", word, 0))

    def address(self, record: Record) -> int:
        """Return the device address of a record."""
        return self._block + record.offset

    @property
    def outcome(self) -> int:
        """The device address of the graph's ``Outcome``."""
        return self._block

    @property
    def stop_address(self) -> int:
        """The device address of the word that is not 0 when loops are to end."""
        return self._stop_address

    @property
    def answer_address(self) -> int:
        """The device address of the word by which a guard tells the host whether to go on."""
        return self._stop_address + _ANSWER

    # running ----------------------------------------------------------------------------------------------------------

    def begin(self, stream: Any) -> None:
        """Queue what every repetition begins with: to know whether one before it failed."""
        self._begun = True
        if self._block and self._records:
            call("cuMemcpyDtoDAsync", self._block + _HALTED, self._block, 4, stream)

    @property
    def answer(self) -> bool:
        """Whether the guard that was looked at last is true, once its kernel has run."""
        return bool(self._answer.value)

    def failed(self, stream: Any) -> bool:
        """Wait for the stream, and return whether something failed since `settle`. Nothing can before `begin`."""
        if not self._begun:
            return False
        word = np.zeros(1, np.uint32)
        call("cuMemcpyDtoHAsync", word.ctypes.data, self._block, word.nbytes, stream)
        call("cuStreamSynchronize", stream)
        return bool(word[0])

    def stop(self) -> None:
        """Have every loop end before its next iteration."""
        if self._stop is not None:
            self._stop.value = 1

    def settle(self, stream: Any) -> None:
        """Wait for the stream, have every record read, and raise the failure of the first node that has one."""
        self._begun = False
        if not (self._block and self._records):
            if self._stop is not None and self._stop.value:
                call("cuStreamSynchronize", stream)
                self._stop.value = 0
            return
        block = np.zeros(self._size, np.uint8)
        call("cuMemcpyDtoHAsync", block.ctypes.data, self._block, self._size, stream)
        self._clear(stream)
        call("cuStreamSynchronize", stream)
        self._stop.value = 0
        failures = self._read(block)
        if failures:
            raise _first(failures)  # held by nothing of this frame, which its traceback holds, and so all of the graph

    def _read(self, block: np.ndarray[Any, Any]) -> list[tuple[Record, Exception]]:
        found = []
        for record in self._records:
            words = block[record.offset : record.offset + record.dtype.itemsize].view(record.dtype)[0]
            if (failure := record.read(words)) is not None:
                found.append((record, failure))
        return found

    def _clear(self, stream: Any) -> None:
        call("cuMemsetD8Async", self._block, 0, self._size, stream)


def _first(failures: list[tuple[Record, Exception]]) -> Exception:
    """Return the failure of the first node, blamed, and leave nothing in the list."""
    record, failure = min(failures, key=lambda one: one[0].order)
    failures.clear()
    record.blame(failure)
    return failure
