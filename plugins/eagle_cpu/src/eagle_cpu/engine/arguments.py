"""What one launch works on, packed into the block of memory that generated code reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eagle.plugin import Argument, Kernel
from eagle_cpu.engine import layout
from eagle_cpu.engine.layout import Layout
from eagle_ir import Function
from eagle_ir.evaluate import Fault
from eagle_ir.faults import fault_at

__all__ = ["Arguments"]

_LINE = 64


class Arguments:
    """The arrays and params of one kernel, for the entries of its `Program`.

    Arrays are taken as they are, checked by whoever binds them: native dtype, aligned, rows contiguous.

    Parameters
    ----------
    kernel : Kernel
    arrays : mapping of str to ndarray
        A plane per sample argument and mask, (n,) or (components, n); tables.
    params : mapping of str to number
    samples : int
    watchful : callable, optional
        Returns the address of the loop that stops samples that turn NaN or infinite.

    Attributes
    ----------
    address : int
        Of the block; what the entries take.
    """

    def __init__(
        self,
        kernel: Kernel,
        arrays: Mapping[str, np.ndarray[Any, Any]],
        params: Mapping[str, float | int | bool],
        samples: int,
        watchful: Callable[[], int] | None = None,
    ) -> None:
        self.kernel, self.samples = kernel, samples
        self._watchful = watchful
        self._layout = Layout.of(kernel.arguments)
        self._arrays = dict(arrays)
        self._steps: np.ndarray[Any, Any] | None = None
        self._failed: np.ndarray[Any, Any] | None = None
        self._memory = np.zeros(self._layout.size + _LINE // 8, np.int64)
        first = -self._memory.ctypes.data % _LINE // 8
        self._words = self._memory[first : first + self._layout.size]
        self.address: int = self._words.ctypes.data
        for argument in kernel.arguments:
            if argument.role != "param":
                self._place(argument, self._arrays[argument.name])
        self.set_params(params)
        self.reset()

    def _place(self, argument: Argument, array: np.ndarray[Any, Any]) -> None:
        word = self._layout.offsets[argument.name]
        self._words[word] = array.__array_interface__["data"][0]
        if argument.role == "table":
            if not array.size:
                self._words[word] = self.address  # code reads a first element, and makes nothing of it
            self._words[word + 1 : word + 1 + array.ndim] = array.shape
        else:
            self._words[word + 1] = array.strides[0] if array.ndim > 1 else 0

    def set_params(self, params: Mapping[str, float | int | bool]) -> None:
        """Set the params, each rounded or wrapped to the type of its argument.

        Parameters
        ----------
        params : mapping of str to number
            All of the kernel's params.
        """
        for argument in self.kernel.arguments:
            if argument.role == "param":
                word = self._layout.offsets[argument.name]
                self._words[word] = 0
                self._words[word : word + 1].view(argument.dtype)[0] = _number(params[argument.name], argument.dtype)

    def set_loop(
        self,
        *,
        max_steps: int,
        steps: np.ndarray[Any, Any] | None = None,
        failed: np.ndarray[Any, Any] | None = None,
    ) -> None:
        """Set what the loop entry works by.

        Parameters
        ----------
        max_steps : int
            The most steps a sample takes in one run.
        steps : ndarray of int64, shape (n,), optional
            The steps that each sample took are added to it.
        failed : ndarray of bool, shape (n,), optional
            When given, a sample whose floats turn NaN or infinite in a step ends with that step and is marked here.
        """
        self._steps, self._failed = steps, failed
        self._words[layout.MAX_STEPS] = max_steps
        self._words[layout.STEPS] = 0 if steps is None else steps.ctypes.data
        self._words[layout.FAILED] = 0 if failed is None else failed.ctypes.data
        self._words[layout.WATCHFUL] = 0 if failed is None or self._watchful is None else self._watchful()

    def reset(self) -> None:
        """Forget faults and the results of loops."""
        self._words[layout.LOCK] = 0
        self._words[layout.FAULT_SAMPLE] = layout.NO_SAMPLE
        self._words[layout.LONGEST] = 0

    @property
    def fault(self) -> Fault | None:
        """The fault of the lowest sample that faulted since `reset`."""
        sample = int(self._words[layout.FAULT_SAMPLE])
        if sample == layout.NO_SAMPLE:
            return None
        assert isinstance(self.kernel.code, Function)
        place, index = int(self._words[layout.FAULT_PLACE]), int(self._words[layout.FAULT_INDEX])
        return fault_at(self.kernel.code, sample, place, index)

    @property
    def longest(self) -> int:
        """The most steps that a sample took in the loops run since `reset`."""
        return int(self._words[layout.LONGEST])

    @property
    def unfinished(self) -> int:
        """How many samples have a mask that is still false, not counting those marked as failed."""
        mask = next(argument.name for argument in self.kernel.arguments if argument.role == "mask")
        ended = self._arrays[mask][: self.samples] != 0
        if self._failed is not None:
            ended = ended | (self._failed[: self.samples] != 0)
        return self.samples - int(np.count_nonzero(ended))


def _number(number: Any, dtype: str) -> Any:
    """Return a param in its argument's type: floats rounded once, integers wrapped."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        bits = int(number) & (2 ** (8 * kind.itemsize) - 1)
        return np.array(bits, f"u{kind.itemsize}").view(kind)[()]
    with np.errstate(over="ignore"):
        return kind.type(number)
