"""The two floors under every figure: bytes over bandwidth, and operations over rate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import Any

from eagle_cuda.device import device
from eagle_cuda.driver import api, call

__all__ = ["Floors"]

# Results of double-precision additions, multiplications and fused ones, per clock and multiprocessor, by compute
# capability (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions").
_DOUBLES = {"80": 32, "86": 2, "87": 2, "89": 2, "90": 64, "100": 64, "120": 2}
_COST = {"add": 1, "div": 9}  # a division is a short program of multiplications


@dataclass(frozen=True)
class Floors:
    """What a device does at most.

    Attributes
    ----------
    name : str
    bytes_per_second : float
        Of its memory, by its clock and width: the specification's figure, which nothing reaches wholly.
    doubles_per_second : float
        Operations on doubles, a fused one counting as one.
    """

    name: str
    bytes_per_second: float
    doubles_per_second: float

    @classmethod
    def of(cls, ordinal: int = 0) -> Floors:
        """Ask the driver."""
        here = device(ordinal)

        def ask(attribute: str) -> int:
            wanted: Any = getattr(api().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
            return int(call("cuDeviceGetAttribute", wanted, ordinal))

        memory = 2 * ask("MEMORY_CLOCK_RATE") * 1e3 * ask("GLOBAL_MEMORY_BUS_WIDTH") / 8
        lanes = _DOUBLES.get(here.arch.removeprefix("sm_"), 2)
        return cls(here.describe(), memory, here.multiprocessors * lanes * ask("CLOCK_RATE") * 1e3)

    def seconds(self, operations: Counter[str], steps: float, moved: float) -> float:
        """Predict the time of so many steps of some operations, and of so many bytes: the longer of the two."""
        total = sum(_COST.get(unit, 1) * count for unit, count in operations.items()) * steps
        # The emulated device states neither rate.
        return max(total / (self.doubles_per_second or inf), moved / (self.bytes_per_second or inf))
