"""The transcendentals to any precision, and how far the engine's are from them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np

from eagle_cpu.engine.vector_math import functions
from eagle_ir import OPERATIONS

__all__ = ["BOUNDS", "NAMES", "STATED", "error_in_ulp"]

NAMES = sorted(name for name, operation in OPERATIONS.items() if operation.transcendental)
BOUNDS = {
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "atanh": (-1.0, 1.0),
    "acosh": (1.0, 1e300),
    "log": (0.0, 1e308),
    "log2": (0.0, 1e308),
    "log10": (0.0, 1e308),
    "log1p": (-1.0, 1e308),
    "exp": (-740.0, 709.0),
    "expm1": (-740.0, 709.0),
    "sinh": (-709.0, 709.0),
    "cosh": (-709.0, 709.0),
    "exp2": (-1070.0, 1023.0),
    "erf": (-8.0, 8.0),
    "erfc": (-8.0, 26.0),
    "pow": (1e-10, 1e10),
}
"""Arguments between which a function has a finite value; -1e300 and 1e300 for the others."""

_STATED_TOGETHER = {
    2: "acosh asinh exp2 hypot pow",
    3: "acos atan atan2 atanh cbrt cosh erf erfc expm1 log log10 log1p log2 sinh tanh",
    4: "asin cos exp sin tan",
}
STATED = {name: bound for bound, names in _STATED_TOGETHER.items() for name in names.split()}
"""The ulp that docs/kernels.md states: one more than the largest error seen, rounded up, and never more than 4."""

_EXACT: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x, 2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "pow": mpmath.power,
}


def error_in_ulp(name: str, *operands: np.float64) -> float:
    """Return how far the engine's value is from the exact one, in spacings of doubles there; 0 at a pole."""
    ours = functions()[name](*operands)
    with mpmath.workprec(2200 if name in ("sin", "cos", "tan") else 300):
        try:
            exact = _EXACT.get(name, getattr(mpmath, name, None))(*map(mpmath.mpf, map(float, operands)))  # type: ignore[misc]
        except (ValueError, ZeroDivisionError):
            return 0.0
        nearest = float(exact)
        if not np.isfinite(nearest) or abs(nearest) > 1.7e308:
            return 0.0 if abs(ours) > 1.7e308 else float("inf")
        return float(abs(mpmath.mpf(float(ours)) - exact) / mpmath.mpf(float(np.spacing(abs(nearest)))))


def _drawn(name: str, rng: np.random.Generator, count: int) -> list[tuple[np.float64, ...]]:
    """Return arguments: half of them of every magnitude between the bounds, half between -3 and 3."""
    low, high = BOUNDS.get(name, (-1e300, 1e300))
    magnitudes = np.exp(rng.uniform(np.log(1e-300), np.log(min(high, 1e300)), count // 2))
    wide = np.clip(magnitudes * rng.choice([-1.0, 1.0], count // 2), low, high)
    near = rng.uniform(max(low, -3.0), min(high, 3.0), count - count // 2)
    first = rng.permutation(np.concatenate([wide, near]))
    if OPERATIONS[name].operands == 1:
        return [(x,) for x in first]
    second = rng.uniform(-30.0, 30.0, count) if name == "pow" else rng.permutation(first)
    return list(zip(first, second, strict=True))


def main() -> None:
    """Print the largest error of each function over random arguments."""
    count, rng = int(sys.argv[1]), np.random.default_rng(0)
    for name in NAMES:
        print(f"{name:8} {max(error_in_ulp(name, *operands) for operands in _drawn(name, rng, count)):.2f}", flush=True)


if __name__ == "__main__":
    main()
