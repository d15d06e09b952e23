"""Running compiled kernels by their entries, over planes that show what was written beside them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from eagle.plugin import Kernel
from eagle_cpu.engine import program_for
from eagle_ir.evaluate import Fault

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
PAD = 3


class Guarded:
    """A copy of an array with bytes around every row that nobody may touch."""

    def __init__(self, array: np.ndarray, alone: bool) -> None:
        rows = array.reshape(1, -1) if array.ndim == 1 else array
        pad = 0 if alone else PAD
        self.whole = np.empty((len(rows), rows.shape[1] + 2 * pad), array.dtype)
        self.whole.view(np.uint8)[...] = 0xA5
        self.inside = self.whole[:, pad : pad + rows.shape[1]]
        self.inside[...] = rows
        self.pad = pad
        self.array = (
            self.inside[0] if array.ndim == 1 else self.inside if not alone else self.inside.reshape(array.shape)
        )

    def untouched(self) -> bool:
        outside = np.concatenate([self.whole[:, : self.pad], self.whole[:, self.whole.shape[1] - self.pad :]], axis=1)
        return bool((np.ascontiguousarray(outside).view(np.uint8) == 0xA5).all())


class Run:
    """A kernel compiled for one width, over guarded copies of arrays.

    Parameters
    ----------
    kernel : Kernel
    arrays : mapping of str to ndarray
    params : mapping of str to number
    samples : int
    lanes : int or None
        Samples in a vector; None for what suits the kernel.
    """

    def __init__(
        self,
        kernel: Kernel,
        arrays: Mapping[str, np.ndarray],
        params: Mapping[str, Any],
        samples: int,
        lanes: int | None,
    ) -> None:
        tables = {one.name for one in kernel.arguments if one.role == "table"}
        self.guarded = {name: Guarded(array, alone=name in tables) for name, array in arrays.items()}
        self.arrays = {name: one.array for name, one in self.guarded.items()}
        self.samples = samples
        self.program = program_for(kernel, lanes=lanes)
        self.arguments = self.program.arguments(self.arrays, params, samples)

    def launch(self, cuts: Sequence[int] = ()) -> Fault | None:
        """Run all samples once, the range cut at these multiples of the grain and each piece on a thread of its own."""
        return self._run(self.program.launch_entry, cuts)

    def loop(self, max_steps: int, steps: np.ndarray | None = None, cuts: Sequence[int] = ()) -> Fault | None:
        """Run every sample to its end, or for so many steps."""
        assert self.program.loop_entry is not None
        self.arguments.set_loop(max_steps=max_steps, steps=steps)
        return self._run(self.program.loop_entry, cuts)

    @property
    def longest(self) -> int:
        """The most steps that a sample took in the last loop."""
        return int(self.arguments.longest)

    def _run(self, address: int, cuts: Sequence[int]) -> Fault | None:
        entry = ENTRY(address)
        inside = {cut * self.program.grain for cut in cuts if 0 < cut * self.program.grain < self.samples}
        chunks = list(pairwise(sorted({0, self.samples, *inside})))
        if len(chunks) > 1:  # at once: calls through ctypes release the interpreter
            with ThreadPoolExecutor(len(chunks)) as pool:
                codes = list(pool.map(lambda ends: entry(self.arguments.address, *ends, None), chunks))
        else:
            codes = [entry(self.arguments.address, *ends, None) for ends in chunks]
        assert all(code >= 0 for code in codes)
        assert any(codes) == (self.arguments.fault is not None)
        assert all(one.untouched() for one in self.guarded.values())
        return self.arguments.fault
