"""Planes, tables and params for generated kernels, full of numbers where things go wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel_words import COLUMNS, LENGTH, ROWS
from random_kernels import Case


def planes(case: Case, scalar: str, samples: int, seed: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and params for a kernel's arguments, full of numbers where things go wrong."""
    random = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}
    params: dict[str, Any] = {}
    for name, text in case.arguments.items():
        if text.startswith("Param"):
            params[name] = numbers(random, "int32" if "Int32" in text else scalar, 1)[0].item()
        elif name == "t":
            arrays[name] = numbers(random, scalar, LENGTH)
        elif name == "g":
            arrays[name] = numbers(random, "int32", ROWS * COLUMNS).reshape(ROWS, COLUMNS)
        else:
            rows = {"v": 3, "M": 6, "q": 4, "w": 2}.get(name, 0)
            inner = text.removeprefix("Mutable[").removesuffix("]")
            dtype = {"Int32": "int32", "UInt32": "uint32", "Index": "int64", "Bool": "bool", "Terminated": "bool"}
            plane = numbers(random, dtype.get(inner, scalar), max(rows, 1) * samples)
            arrays[name] = plane.reshape(rows, samples) if rows else plane
    return arrays, params


def numbers(random: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    """Numbers of a type: mostly ordinary ones, and every kind of special one."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.random(count) < 0.3
    if kind.kind in "iu":
        info = np.iinfo(kind)
        edges = np.array([0, 1, 2, info.max, info.min, info.max - 1, info.min + 1, *([-1, -7] if info.min else [])])
        values = random.integers(0 if info.min == 0 else -9, 9, count).astype(kind)
        wide = random.integers(info.min, info.max, count, dtype=kind, endpoint=True)
        values = np.where(random.random(count) < 0.2, wide, values)
        return np.where(random.random(count) < 0.15, random.choice(edges.astype(kind), count), values)
    limits = np.finfo(kind)
    tiny = limits.smallest_subnormal
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, -limits.max, tiny, -tiny, limits.tiny, 1, -1, 0.5, 2.5]
    special += [2.0**31, -(2.0**31) - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**53]
    ordinary = random.normal(0, 3, count).astype(kind)
    wide = (random.normal(0, 1, count) * 10.0 ** random.integers(-30, 30, count)).astype(kind)
    values = np.where(random.random(count) < 0.2, wide, ordinary)
    return np.where(random.random(count) < 0.25, random.choice(np.array(special, kind), count), values)
