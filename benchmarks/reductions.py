"""Reductions beside NumPy's, and beside reading the same memory: time, speed, share of what memory gives.

Each figure is the best of rounds in which all sides take turns. Run it on an otherwise idle machine: ``make bench``.
The plain read (``arms/reading.cpp``) is compiled here, which needs a C++ compiler.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import eagle
from eagle_cpu.team import set_team_size, team_size

ROUNDS = 15
LARGE = 10_000_000
BARS = {
    ("sum", "float64", LARGE): "at least 1.1x NumPy and 85 % of reading",
    ("sum", "float64", 1000): "at most 3 us",
    ("max", "float64", LARGE): "at least 1x NumPy",
    ("min", "float64", LARGE): "at least 1x NumPy",
    ("all", "bool", LARGE): "at least 1x NumPy",
}
ARMS = Path(__file__).parent / "arms"


def compiled(folder: str) -> ctypes.CDLL:
    library = Path(folder) / "reading.so"
    compiler = os.environ.get("CXX", "c++")
    options = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-pthread"]
    subprocess.run([compiler, *options, str(ARMS / "reading.cpp"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def read_seconds(library: ctypes.CDLL, x: np.ndarray, threads: int, rounds: int = 5) -> float:
    """Return the best time the threads take to read `x`."""
    seconds = (ctypes.c_double * rounds)()
    first = min(x.ctypes.data, x[-1:].ctypes.data)
    library.read_rounds(ctypes.c_void_p(first), ctypes.c_int64(x.nbytes), threads, rounds, seconds)
    return float(min(seconds))


def seconds(run: Callable[[], object], size: int) -> float:
    """Return the best time of a few batches of calls, a batch of which takes some 100 us."""
    batch, best = max(1, 100_000 // size), float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(batch):
            run()
        best = min(best, (time.perf_counter() - start) / batch)
    return best


def reduction(x: np.ndarray, op: str) -> eagle.Graph:
    return eagle.Graph().add_node(eagle.reduce(x, np.zeros(1, x.dtype), op)).build()


def compare(library: ctypes.CDLL, x: np.ndarray, op: str) -> tuple[float, float, float]:
    """Return the best times of eagle, NumPy and reading."""
    g, theirs = reduction(x, op), getattr(np, op)
    times = [
        (seconds(g.launch, x.size), seconds(lambda: theirs(x), x.size), read_seconds(library, x, team_size()))
        for _ in range(ROUNDS)
    ]
    ours, numpy, read = (min(column) for column in zip(*times, strict=True))
    return ours, numpy, read


def values(size: int, dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.ones(size, bool)
    return (np.random.default_rng(1).standard_normal(size) * 1000).astype(dtype)


def report(op: str, x: np.ndarray, times: tuple[float, float, float], bar: str = "") -> None:
    ours, numpy, read = times
    print(
        f"{op:4} {x.dtype!s:8} {x.size:>10,} {ours * 1e6:10.2f} {numpy * 1e6:10.2f} {numpy / ours:7.2f}x "
        f"{x.nbytes / ours / 1e9:8.1f} {x.nbytes / read / 1e9:8.1f} {read / ours:7.0%}   {bar}"
    )


Row = tuple[str, Any, tuple[float, float, float], str]


def rows(large: int = LARGE) -> Iterator[Row]:
    """Measure everything: operation, array, best times of eagle, NumPy and reading, and what is special about it."""
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        cases = [("sum", "float64"), ("max", "float64"), ("min", "float64"), ("sum", "float32"), ("max", "float32")]
        for op, dtype in [*cases, ("sum", "int64"), ("min", "int32"), ("all", "bool"), ("any", "bool")]:
            for size in sorted({min(one, large) for one in (1000, 100_000, LARGE)}):
                x = values(size, dtype)
                x = ~x if op == "any" else x
                yield op, x, compare(library, x, op), ""
        everybody = team_size()
        set_team_size(1)
        x = values(large, "float64")
        try:
            yield "sum", x, compare(library, x, "sum"), "of one thread"
        finally:
            set_team_size(everybody)
        yield "sum", x[::-1], compare(library, x[::-1], "sum"), "backwards"


def main() -> None:
    """Measure and print every figure."""
    print(f"{team_size()} threads; us a call, GB/s")
    print(f"{'':24} {'eagle':>10} {'NumPy':>10} {'':8} {'eagle':>8} {'reading':>8} {'share':>7}")
    for op, x, times, special in rows():
        report(op, x, times, special or BARS.get((op, str(x.dtype), x.size), ""))


if __name__ == "__main__":
    main()
