"""What the five kernels of different character are given: the same numbers in every arm."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CELLS", "KERNELS", "LAUNCHES", "LONGEST", "inputs", "steps"]

KERNELS = ("waves", "branches", "turn", "look", "add")
CELLS = 4096
LAUNCHES = 5  # of a plain kernel, one after another, as one measurement
LONGEST = 200  # steps of the longest sample, where each stops at its own


def steps(n: int, seed: int = 3) -> Any:
    """How many steps each sample takes: log-uniform in 1..LONGEST, as whole numbers of float64."""
    return np.floor(np.exp(np.random.default_rng(seed).uniform(0, np.log(LONGEST), n))).clip(1, LONGEST)


def inputs(kernel: str, n: int, seed: int = 4) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a kernel reads, and the state it steps, by name."""
    rng = np.random.default_rng(seed)
    if kernel == "turn":
        return {"m": turns(rng, n)}, {"v": rng.uniform(-1.0, 1.0, (3, n))}
    if kernel == "look":
        return {"costs": rng.uniform(0.5, 2.0, CELLS)}, {"at": rng.integers(0, CELLS, n), "y": np.zeros(n)}
    read = {"a": rng.uniform(0.2, 0.8, n)}
    if kernel == "add":
        read["b"] = rng.uniform(0.2, 0.8, n)
    return read, {"x": rng.uniform(-0.5, 1.5, n)}


def turns(rng: np.random.Generator, n: int) -> Any:
    """One rotation about a random axis and angle per sample, (9, n), by the formula of Rodrigues."""
    axis = rng.standard_normal((3, n))
    x, y, z = axis / np.sqrt((axis * axis).sum(axis=0))
    angle = rng.uniform(0.1, 3.0, n)
    c, s = np.cos(angle), np.sin(angle)
    d = 1.0 - c
    rows = [
        [c + x * x * d, x * y * d - z * s, x * z * d + y * s],
        [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
        [z * x * d - y * s, z * y * d + x * s, c + z * z * d],
    ]
    return np.array([one for row in rows for one in row])
