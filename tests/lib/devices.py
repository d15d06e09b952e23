"""What the graph suite asks of a device, and the host as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Device(Protocol):
    """A backend, its arrays, and elementary operations over them.

    An operation returns a callable without arguments that does it, as an opaque node needs one: run by the host or
    captured, whatever the backend does with callables.
    """

    name: str

    def array(self, values: Any, dtype: Any = np.float64) -> Any:
        """A new array with these values."""

    def view(self, array: Any, *key: Any) -> Any:
        """``array[key]``, sharing its memory."""

    def to_numpy(self, array: Any) -> np.ndarray:
        """A copy on the host, after everything launched is done."""

    def fill(self, out: Any, value: float) -> Callable[[], object]:
        """``out[...] = value``."""

    def add(self, a: Any, b: Any, out: Any) -> Callable[[], object]:
        """``out[...] = a + b``."""

    def scale(self, a: Any, factor: float, out: Any) -> Callable[[], object]:
        """``out[...] = a * factor``."""

    def shift(self, a: Any, by: float, out: Any) -> Callable[[], object]:
        """``out[...] = a + by``."""


class HostDevice:
    """NumPy arrays and the backend ``cpu``; `put` and `write` are what `device_runs` has beside the operations."""

    name = "cpu"

    def array(self, values: Any, dtype: Any = np.float64) -> np.ndarray:
        return np.array(values, dtype)

    def put(self, values: Any) -> np.ndarray:
        """A new array with these values, in their own dtype."""
        return np.array(values)

    def write(self, array: np.ndarray, values: Any) -> None:
        """Set an array's values from the host, now."""
        array[...] = values

    def view(self, array: np.ndarray, *key: Any) -> np.ndarray:
        view: np.ndarray = array[key]
        return view

    def to_numpy(self, array: np.ndarray) -> np.ndarray:
        return array.copy()

    def fill(self, out: np.ndarray, value: float) -> Callable[[], object]:
        return lambda: out.fill(value)

    def add(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> Callable[[], object]:
        return lambda: np.add(a, b, out=out)

    def scale(self, a: np.ndarray, factor: float, out: np.ndarray) -> Callable[[], object]:
        return lambda: np.multiply(a, factor, out=out)

    def shift(self, a: np.ndarray, by: float, out: np.ndarray) -> Callable[[], object]:
        return lambda: np.add(a, by, out=out)
