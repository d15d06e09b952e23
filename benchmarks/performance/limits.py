"""What the machine can do at most, measured, and what that makes of a kernel's time."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.performance.operations import Work

__all__ = ["Limit", "Machine"]

SOURCE = Path(__file__).parents[1] / "arms" / "rates.cpp"
UNITS = ("add", "div", "sin", "exp", "gather")
COUNT = 2_000_000  # operations a measurement, of each thread
ROUNDS = 5


class Limit(NamedTuple):
    """The least time, in seconds, and what bounds it: "operations", "division", "gathering" or "memory"."""

    seconds: float
    bound: str


class Machine:
    """Rates of this machine, measured when first asked for.

    Raises
    ------
    subprocess.CalledProcessError, FileNotFoundError
        There is no C++ compiler, or it does not take the options.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        library = Path(self._folder.name) / "rates.so"
        options = ["-std=c++17", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        wide = ["-mprefer-vector-width=512"] if os.uname().machine == "x86_64" else []
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, *options, *wide, str(SOURCE), "-o", str(library)], check=True)
        self._library = ctypes.CDLL(str(library))
        self._rates: dict[tuple[str, int], float] = {}
        self._bandwidths: dict[tuple[int, int], float] = {}

    def rate(self, unit: str, threads: int) -> float:
        """Operations a second of all threads together."""
        if (unit, threads) not in self._rates:
            function = getattr(self._library, f"rate_{unit}")
            function.restype, function.argtypes = ctypes.c_double, [ctypes.c_int64]
            self._rates[unit, threads] = best(lambda _: COUNT / function(COUNT), threads)
        return self._rates[unit, threads]

    def bandwidth(self, size: int, threads: int) -> float:
        """Bytes a second of threads that together go over `size` bytes again and again, reading two, writing one."""
        size = max(16 * threads, size)
        if (size, threads) not in self._bandwidths:
            function = self._library.rate_memory
            function.restype = ctypes.c_double
            function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
            count = size // 16 // threads
            arrays = [(np.zeros(count), np.ones(count)) for _ in range(threads)]
            passes = max(1, 10_000_000 // (24 * count))

            def once(thread: int) -> float:
                x, a = arrays[thread]
                return 24 * count * passes / float(function(x.ctypes.data, a.ctypes.data, count, passes))

            self._bandwidths[size, threads] = best(once, threads)
        return self._bandwidths[size, threads]

    def limit(self, work: Work, samples: int, steps: float, threads: int) -> Limit:
        """Return what no program can fall below that runs `steps` steps in all, over `samples` samples."""
        need = work.operations
        arithmetic = sum(need[unit] / self.rate(unit, threads) for unit in ("add", "sin", "exp"))
        times = [
            Limit(steps * arithmetic, "operations"),
            Limit(steps * need["div"] / self.rate("div", threads), "division"),
            Limit(steps * need["gather"] / self.rate("gather", threads), "gathering"),
            Limit(samples * work.moved / self.bandwidth(samples * work.touched, threads), "memory"),
        ]
        return max(times)

    def described(self, threads: int) -> dict[str, Any]:
        """All rates, and bandwidths in and beyond the caches."""
        return {
            "threads": threads,
            "rates": {unit: self.rate(unit, threads) for unit in UNITS},
            "bandwidths": {str(size): self.bandwidth(size, threads) for size in (2**15, 2**20, 2**24, 2**28)},
        }


def best(work: Callable[[int], float], threads: int) -> float:
    """Return the largest sum over threads that work at the same time, of a few rounds."""
    with ThreadPoolExecutor(threads) as pool:
        return max(sum(pool.map(work, range(threads))) for _ in range(ROUNDS))
