"""What the graph test suite asks of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eagle_slab.memory import SlabArray


class SlabDevice:
    name = "slab"

    def array(self, values: Any, dtype: Any = np.float64) -> SlabArray:
        return SlabArray.from_numpy(np.array(values, dtype))

    def view(self, array: SlabArray, *key: Any) -> SlabArray:
        return array[key]

    def to_numpy(self, array: SlabArray) -> np.ndarray:
        return array.host().copy()

    def fill(self, out: SlabArray, value: float) -> Callable[[], object]:
        return lambda: out.host().fill(value)

    def add(self, a: SlabArray, b: SlabArray, out: SlabArray) -> Callable[[], object]:
        return lambda: np.add(a.host(), b.host(), out=out.host())

    def scale(self, a: SlabArray, factor: float, out: SlabArray) -> Callable[[], object]:
        return lambda: np.multiply(a.host(), factor, out=out.host())

    def shift(self, a: SlabArray, by: float, out: SlabArray) -> Callable[[], object]:
        return lambda: np.add(a.host(), by, out=out.host())
