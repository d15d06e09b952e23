"""Running kernels on the CUDA device as `kernel_runs` runs them on the engine of the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
from cuda_arrays import DeviceArray

import eagle
from eagle.plugin import Kernel
from eagle_cuda import launching
from eagle_ir.evaluate import Fault
from eagle_ir.faults import fault_error

__all__ = ["Run", "faulting"]

PAD = 3


class Guarded:
    """A copy of an array in device memory, with bytes around every row that nobody may touch."""

    def __init__(self, array: np.ndarray, alone: bool) -> None:
        rows = array.reshape(1, -1) if array.ndim == 1 else array
        pad = 0 if alone or array.ndim > 2 else PAD
        whole = np.empty((*rows.shape[:-1], rows.shape[-1] + 2 * pad), array.dtype)
        whole.reshape(-1).view(np.uint8)[...] = 0xA5
        whole[..., pad : pad + rows.shape[-1]] = rows
        self.inside = (..., slice(pad, pad + rows.shape[-1]))
        self.whole = DeviceArray(whole)
        inside = self.whole[self.inside]
        self.array = inside[0] if array.ndim == 1 else inside

    def values(self) -> np.ndarray:
        """What it holds now, after a look at the bytes around it."""
        whole = self.whole.to_numpy()
        outside = np.ones(whole.shape, bool)
        outside[self.inside] = False
        assert (np.ascontiguousarray(whole[outside]).view(np.uint8) == 0xA5).all()
        return whole[self.inside].reshape(self.array.shape)


class Run:
    """A kernel over guarded copies of arrays.

    Parameters
    ----------
    kernel : Kernel
    arrays : mapping of str to ndarray
    params : mapping of str to number
    """

    def __init__(self, kernel: Kernel, arrays: Mapping[str, np.ndarray], params: Mapping[str, Any]) -> None:
        tables = {one.name for one in kernel.arguments if one.role == "table"}
        names = {one.name for one in kernel.arguments}
        self.guarded = {name: Guarded(arrays[name], name in tables) for name in arrays if name in names}
        self.plan = eagle.Plan(kernel)
        self.planes: dict[str, Any] = {name: one.array for name, one in self.guarded.items()}
        self.params = {name: np.asarray(params[name]).item() for name in params if name in names}
        self.longest = 0
        self.failed: np.ndarray | None = None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What the planes hold now."""
        return {name: one.values() for name, one in self.guarded.items()}

    def launch(self, cuts: Sequence[int] = ()) -> Fault | None:
        """Run all samples once; where the host would cut the range says nothing here."""
        return faulting(self.plan.bind(**self.planes, **self.params).launch)

    def loop(
        self, max_steps: int, steps: np.ndarray | None = None, cuts: Sequence[int] = (), *, watch: bool = False
    ) -> Fault | None:
        """Run every sample to its end, or for so many steps, which are added to `steps`."""
        runner = eagle.until_done(
            self.plan,
            max_steps=max_steps,
            steps_per_sample=True,
            stop_on_nonfinite=watch,
            **self.planes,
            **self.params,
        )

        def go() -> None:
            self.longest = runner.run().steps

        fault = faulting(go)
        if steps is not None:
            steps += np.asarray(runner.steps_taken)
        self.failed = np.asarray(runner.failed) if watch else None
        return fault


def faulting(run: Callable[[], object]) -> Fault | None:
    """Run something, and return the fault behind what it raises, which has to be said in the words of the IR."""
    found: dict[str, Fault] = {}

    def noted(kernel: Kernel, fault: Fault) -> Exception:
        error = fault_error(kernel, fault)
        found[str(error)] = fault
        return error

    with patch.object(launching, "fault_error", noted):
        try:
            run()
        except (IndexError, ZeroDivisionError, OverflowError) as error:
            return found[str(error)]
    assert not found
    return None
