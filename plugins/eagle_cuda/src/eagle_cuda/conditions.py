"""The guards of a graph on the device, and what its conditionals did.

A kernel reads a guard and tells the conditional node behind it. Where the driver has no such nodes, the same kernel
tells the host, which launches the body or not: `by_host`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import BuildError, Guard, PlaneError, adapter_of
from eagle_cuda.driver import abilities, call
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.ledger import Ledger, Record
from eagle_cuda.modules import function_of, source

__all__ = ["BY_HOST", "Conditions"]

BY_HOST = "#define EAGLE_DECIDED_BY_HOST\n"
"""What kernels/conditions.cu begins with where the host is told."""

# As `eagle::Guard` and `eagle::Record` in kernels/conditions.cu.
_GUARD = np.dtype(
    [("cell", "u8"), ("baseline", "u8"), ("sign", "u8"), ("infinity", "u8")]
    + [(name, "i4") for name in ("size", "truth", "negate", "always")]
)
_RECORD = np.dtype([("iterations", "u8"), ("limited", "u4"), ("entered", "u4"), ("nan", "u4"), ("failed", "u4")])
_FAILED = 20  # where that is in there

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
    """One conditional: what it reads, and where it writes what it did."""

    guard: Any
    record: Record


class Conditions:
    """The conditionals of one graph, numbered as they are lowered.

    Parameters
    ----------
    ledger : Ledger
        Where they report.

    Attributes
    ----------
    by_host : bool
        Whether the driver has no conditional nodes, so that the host decides between launches.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._entries: list[_Entry] = []
        self._guards = 0
        self.by_host = not abilities().conditional_nodes

    def add(
        self,
        guard: Guard | None,
        order: tuple[int, ...],
        blame: Callable[[BaseException], None],
        report: Callable[[int, bool], object] | None = None,
    ) -> int:
        """Take in a conditional and return its number. `order` and `blame` are those of `Record`."""
        self._ledger.decided_by_host |= self.by_host

        def read(words: Any) -> Exception | None:
            if report is not None and words["entered"]:
                report(int(words["iterations"]), bool(words["limited"]))
            return _nan("guard" if words["nan"] == 1 else "baseline") if words["nan"] else None

        self._entries.append(_Entry(_packed(guard), self._ledger.add(_RECORD, order, read, blame)))
        return len(self._entries) - 1

    def __bool__(self) -> bool:
        return bool(self._entries)

    # building ---------------------------------------------------------------------------------------------------------

    def allocate(self, builder: GraphBuilder) -> None:
        """Put the guards into device memory, when the first conditional is added."""
        self._ledger.allocate(builder)
        if self._guards:
            return
        guards = np.array([entry.guard for entry in self._entries], _GUARD)
        block = call("cuMemAlloc", guards.nbytes)
        builder.holdings.own("cuMemFree", block)
        self._guards = int(block)
        call("cuMemcpyHtoDAsync", self._guards, guards.ctypes.data, guards.nbytes, builder.stream)
        call("cuStreamSynchronize", builder.stream)

    def failed(self, number: int) -> int:
        """Return the device address of the word that ends a loop because a node inside it failed."""
        return self._ledger.address(self._entries[number].record) + _FAILED

    def decide(self, builder: GraphBuilder, number: int, condition: Any, after: Sequence[int]) -> int:
        """Add the kernel that decides whether a conditional runs; `condition` is None where it tells the host."""
        return self._decider(builder, "eagle_decide", number, condition, [], after)

    def loop(
        self,
        builder: GraphBuilder,
        number: int,
        condition: Any,
        limit: int | None,
        after: Sequence[int],
        *,
        around: int,
        again: bool,
    ) -> int:
        """Add the kernel that decides whether a loop goes on: before the loop, or `again` at the end of its body.

        `condition` is as for `decide`. `around` is the address of the word that ends the loop that this one stands in,
        0 if it stands in none.
        """
        self.allocate(builder)  # before it is asked for its places
        further = [
            (around, ctypes.c_void_p),
            (self._ledger.stop_address, ctypes.c_void_p),
            (-1 if limit is None else limit, ctypes.c_longlong),
        ]
        return self._decider(builder, "eagle_again" if again else "eagle_enter", number, condition, further, after)

    def _decider(
        self,
        builder: GraphBuilder,
        kernel: str,
        number: int,
        condition: Any,
        further: Sequence[tuple[int, Any]],
        after: Sequence[int],
    ) -> int:
        self.allocate(builder)
        told = self._ledger.answer_address if condition is None else int(condition)
        text = BY_HOST + source("conditions") if condition is None else source("conditions")
        function = function_of(builder.device.ordinal, text, kernel)
        return builder.kernel(function, [(told, ctypes.c_uint64), *self._places(number), *further], after, threads=1)

    def _places(self, number: int) -> list[tuple[int, Any]]:
        guard, record = self._guards + number * _GUARD.itemsize, self._ledger.address(self._entries[number].record)
        return [(guard, ctypes.c_void_p), (record, ctypes.c_void_p), (self._ledger.outcome, ctypes.c_void_p)]


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
