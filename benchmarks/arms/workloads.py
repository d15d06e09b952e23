"""Inputs that every arm shares, the clock, and how a figure is printed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["STEPS", "best", "oscillators", "pendulums", "report", "walkers"]

STEPS = 1000  # the longest sample's


def oscillators(n: int, dist: str, seed: int = 0) -> tuple[Any, Any, Any]:
    """Natural frequency (rad/s), damping ratio and number of steps: log-uniform in 1..1000 ("spread"), or all 1000."""
    rng = np.random.default_rng(seed)
    omega, zeta = rng.uniform(0.5, 3.0, n), rng.uniform(0.01, 0.2, n)
    spread = np.exp(rng.uniform(0, np.log(STEPS), n)).astype(np.int64).clip(1, STEPS)
    return omega, zeta, (spread if dist == "spread" else np.full(n, STEPS)).astype(float)


def pendulums(n: int, seed: int = 1) -> tuple[Any, Any]:
    """Starting angle (rad) and angular rate (rad/s); each swings, below the top, until it turns back."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 2.8, n), rng.uniform(0.0, 0.5, n)


def walkers(n: int, cells: int = 4096, seed: int = 2) -> tuple[Any, Any, Any]:
    """Start, energy and a table of costs: each walks along the table, by branches, until its energy is spent."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, cells, n), np.exp(rng.uniform(0, np.log(500.0), n)), rng.uniform(0.5, 2.0, cells)


def best(run: Callable[..., object], setup: Callable[[], tuple[Any, ...]], repeat: int = 7) -> tuple[float, float]:
    """Fastest of `repeat` timed calls on fresh inputs, and the time of the first one."""
    times = []
    for _ in range(repeat):
        inputs = setup()
        start = time.perf_counter()
        run(*inputs)
        times.append(time.perf_counter() - start)
    return min(times), times[0]


def report(case: str, n: int, seconds: float, first: float, check: float) -> None:
    """Print one row; `check` is a sum of the result, to see that every arm did the same work."""
    row = {"case": case, "n": n, "seconds": seconds, "first_call_s": first, "check": float(check)}
    print(json.dumps(row), flush=True)
