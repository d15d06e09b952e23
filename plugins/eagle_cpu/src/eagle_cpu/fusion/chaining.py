"""Nodes as one kernel, a chain, and what that is launched with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eagle.plugin import Kernel
from eagle_cpu.engine.chain import Part, chain_kernel, param_name, row_name
from eagle_cpu.engine.tally import TallyPart
from eagle_cpu.fusion.launched import Launched, Reduced
from eagle_cpu.steps import NativeStep

__all__ = ["chained"]

Array = np.ndarray[Any, np.dtype[Any]]


def chained(members: Sequence[NativeStep]) -> tuple[Kernel, dict[str, Array], dict[str, float | int | bool]]:
    """Return the kernel that nodes are together, its arrays, and its params."""
    made = _Chaining()
    for number, member in enumerate(members):
        if isinstance(member.source, Reduced):
            made.reduction(number, member.source)
        elif isinstance(member.source, Launched):
            made.launch(number, member.source)
    return chain_kernel(made.parts), made.arrays, made.params


class _Chaining:
    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.arrays: dict[str, Array] = {}
        self.params: dict[str, float | int | bool] = {}
        self._slots: dict[int, int] = {}  # by the address of the row

    def launch(self, number: int, launched: Launched) -> None:
        slots = {
            argument.name: self._rows(launched.arrays[argument.name])
            for argument in launched.kernel.arguments
            if argument.role in ("sample", "mask")
        }
        self.parts.append((launched.kernel, slots))
        self.params.update((param_name(number, name), value) for name, value in launched.params.items())

    def reduction(self, number: int, reduced: Reduced) -> None:
        (slot,) = self._rows(reduced.x)
        self.parts.append(TallyPart(reduced.op, str(reduced.x.dtype), slot))
        self.params |= {param_name(number, "state"): reduced.state, param_name(number, "take"): reduced.take}

    def _rows(self, array: Array) -> list[int]:
        """Return the number of each row of a plane."""
        found = []
        for row in [array] if array.ndim == 1 else array:
            slot = self._slots.setdefault(row.__array_interface__["data"][0], len(self._slots))
            self.arrays.setdefault(row_name(slot), row)
            found.append(slot)
        return found
