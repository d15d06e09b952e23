"""Where the transcendentals are tried, and what they are there to any precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np

from eagle_ir import OPERATIONS

PRECISION = 200
EXACT: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x, 2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "pow": mpmath.power,
}


def exactly(name: str, *numbers: Any) -> Any:
    """The function to 200 bits, of the exact numbers."""
    with mpmath.workprec(PRECISION):
        return (EXACT.get(name) or getattr(mpmath, name))(*(mpmath.mpf(float(number)) for number in numbers))


def error(result: Any, exact: Any) -> float:
    """How many units in the last place of its type a result is off."""
    with mpmath.workprec(PRECISION):
        unit = mpmath.mpf(float(abs(np.spacing(type(result)(float(exact))))))
        return float(abs(mpmath.mpf(float(result)) - exact) / unit) if np.isfinite(result) else np.inf


def points(name: str, kind: Any, count: int) -> list[tuple[Any, ...]]:
    """Numbers in a function's domain: ordinary ones, and where it is steep, flat, tiny or nearly overflows."""
    random = np.random.default_rng(sum(map(ord, name)))
    wide = random.normal(0, 1, count) * 10.0 ** random.integers(-12, 4, count)
    near = np.concatenate([random.normal(0, 1, count), random.uniform(-30, 30, count)])
    tiny = np.geomspace(float(np.finfo(kind).smallest_subnormal), 1e-30, count // 4)
    both = np.concatenate([wide, near, tiny])
    steep = np.linspace(-745, 709.7, count) if kind is np.float64 else np.linspace(-103, 88.7, count)
    ranges: dict[str, np.ndarray] = {
        **dict.fromkeys(
            ("asin", "acos", "atanh"), np.concatenate([np.tanh(both), 1 - 10.0 ** -random.uniform(1, 6, 50)])
        ),
        **dict.fromkeys(("log", "log2", "log10"), np.concatenate([np.abs(both), 1 + wide * 1e-9])),
        **dict.fromkeys(("exp", "expm1", "sinh", "cosh"), np.concatenate([both[np.abs(both) < 80], steep])),
        **dict.fromkeys(("sin", "cos", "tan"), np.concatenate([both, random.uniform(-1e6, 1e6, count)])),
        "exp2": np.concatenate([both[np.abs(both) < 80], steep * 1.44]),
        "log1p": np.concatenate([np.abs(both), -np.tanh(np.abs(near[:count]))]),
        "acosh": 1 + np.abs(both),
        "erfc": np.concatenate([near, random.uniform(0, 26 if kind is np.float64 else 10, count)]),
    }
    first = ranges.get(name, both).astype(kind)
    if OPERATIONS[name].operands == 1:
        return [(one,) for one in first]
    second = random.permutation(first)
    return (
        list(zip(np.abs(first), np.clip(second, -40, 40), strict=True))
        if name == "pow"
        else list(zip(first, second, strict=True))
    )
