"""The transcendentals: within 4 ulp of the exact value, and the same bits in every lane and at every width."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from engine_running import assert_same, call
from hypothesis import given
from hypothesis import strategies as st
from small_kernels import mathematics

from eagle_cpu.engine import program_for
from eagle_cpu.engine.vector_math import functions
from eagle_ir import OPERATIONS, Type

NAMES = sorted(name for name, operation in OPERATIONS.items() if operation.transcendental)
EXACT: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x, 2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "pow": mpmath.power,
}
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


@pytest.mark.property
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_a_function_is_within_four_ulp(name: str, data: Any) -> None:
    low, high = BOUNDS.get(name, (-1e300, 1e300))
    wide = st.floats(low, high)
    number = st.one_of(wide, st.floats(max(low, -3.0), min(high, 3.0))) if low < 3 else wide
    operands = [np.float64(data.draw(number)) for _ in range(OPERATIONS[name].operands)]
    if name == "atan2":  # mpmath's zero has no sign; the test below is for ours
        operands = [operand + 0.0 for operand in operands]
    if name == "pow":
        operands[1] = np.float64(data.draw(st.floats(-30.0, 30.0)))
    ours = functions()[name](*operands)
    with mpmath.workprec(2200 if name in ("sin", "cos", "tan") else 300):
        try:
            exact = EXACT.get(name, getattr(mpmath, name, None))(*map(mpmath.mpf, map(float, operands)))  # type: ignore[misc]
        except (ValueError, ZeroDivisionError):
            return  # a pole
        nearest = float(exact)
        if not np.isfinite(nearest) or abs(nearest) > 1.7e308:
            assert abs(ours) > 1.7e308
            return
        error = abs(mpmath.mpf(float(ours)) - exact) / mpmath.mpf(float(np.spacing(abs(nearest))))
    assert error <= 4, f"{name}{tuple(operands)} is {ours!r}, {float(error):.1f} ulp from {nearest!r}"


@pytest.mark.parametrize("y", [0.0, -0.0])
@pytest.mark.parametrize("x", [0.0, -0.0, 3.0, -3.0])
def test_atan2_heeds_the_signs_of_zeros(y: float, x: float) -> None:
    ours = functions()["atan2"](np.float64(y), np.float64(x))
    assert abs(ours - math.atan2(y, x)) <= 4 * np.spacing(math.pi)
    assert math.copysign(1.0, ours) == math.copysign(1.0, y)


@pytest.mark.parametrize("dtype", [Type.F64, Type.F32])
@pytest.mark.parametrize("name", NAMES)
def test_every_lane_width_and_uniform_value_has_the_same_bits(name: str, dtype: Type) -> None:
    rng = np.random.default_rng(3)
    count = OPERATIONS[name].operands
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e300, -1e300, 1.0, -1.0]
    with np.errstate(all="ignore"):
        columns = [
            np.concatenate([rng.permutation(special), rng.normal(size=60) * 2, rng.random(40)]).astype(dtype.dtype)
            for _ in range(count)
        ]
    wanted = np.array([functions()[name](*operands) for operands in zip(*columns, strict=True)], dtype.dtype)
    params = {f"p{letter}": column[20] for letter, column in zip("ab", columns, strict=False)}
    for lanes in (4, 8, 16, 32):
        y, z = np.empty_like(wanted), np.empty_like(wanted)
        program = program_for(mathematics(name, count, dtype), lanes=lanes)
        arrays = {**dict(zip("ab", columns, strict=False)), "y": y, "z": z}
        arguments = program.arguments(arrays, params, y.size)
        call(program.launch_entry, arguments.address, [(0, y.size)])
        assert_same({"y": y, "z": z}, {"y": wanted, "z": np.full_like(wanted, wanted[20])})
