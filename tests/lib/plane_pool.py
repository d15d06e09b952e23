"""Planes for random graphs of kernels: alike, apart, shifted, rows of one matrix, one memory as two types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eagle import Plan


class PlanePool:
    """Arrays over a few buffers, the same for the same numbers.

    Parameters
    ----------
    seed : int
    samples : int
        Of most planes; some hold half as many.
    """

    def __init__(self, seed: int, samples: int) -> None:
        rng, n = np.random.default_rng(seed), samples
        self.samples = n
        self.reals = rng.choice([0.0, -0.0, 0.5, 1.5, -2.0, 3.25, np.nan, np.inf, 1e300], 4 * n + 8)
        self.matrix = rng.normal(size=(6, n))
        self.integers = rng.integers(-4, 9, 3 * n + 8).astype(np.int32)
        self.indices = rng.integers(-1, n + 2, 2 * n + 1)
        self.bytes = rng.integers(0, 3, 3 * n + 8).astype(np.uint8)
        self.buffers = (self.reals, self.matrix, self.integers, self.indices, self.bytes)

    def planes(self, dtype: str, shape: tuple[int, ...], samples: int) -> list[np.ndarray]:
        """What an argument of a kernel may be bound to."""
        n, width = self.samples, samples
        if shape:
            return [self.matrix[row : row + 3, :width] for row in (0, 3, 1)]
        buffer: dict[str, np.ndarray] = {
            "float64": self.reals,
            "int32": self.integers,
            "uint32": self.integers.view(np.uint32),
            "int64": self.indices,
            "bool": self.bytes.view(bool),
        }
        starts = {"float64": (0, n, 2 * n, 3), "int64": (0, n)}.get(dtype, (0, n, 2 * n, 1))
        planes = [buffer[dtype][start : start + width] for start in starts]
        return planes + ([self.matrix[1, :width], self.matrix[4, :width]] if dtype == "float64" else [])

    def wiring(self, plan: Plan, numbers: tuple[int, ...]) -> dict[str, Any]:
        """Choose planes and params for a plan by numbers."""
        samples = self.samples if numbers[-1] % 8 else self.samples // 2
        chosen: dict[str, Any] = {}
        for argument, number in zip(plan.kernel.arguments, numbers, strict=False):
            if argument.role == "param":
                chosen[argument.name] = 0.25 * (number % 5)
            elif argument.role == "table":
                tables = [self.reals, self.reals[: self.samples], self.matrix[5], self.reals[: number % 3]]
                chosen[argument.name] = tables[number % 4]
            else:
                planes = self.planes(argument.dtype, argument.shape, samples)
                chosen[argument.name] = planes[number % len(planes)]
        return chosen

    def state(self, back: Callable[[np.ndarray], np.ndarray] = lambda array: array) -> tuple[bytes, ...]:
        """Every byte, all NaNs being one; `back` says what a buffer holds on the device that ran."""
        buffers = [back(one) for one in self.buffers]
        return tuple(
            (np.where(np.isnan(one), np.nan, one) if one.dtype.kind == "f" else one).tobytes() for one in buffers
        )
