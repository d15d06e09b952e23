"""The transcendentals: as near the exact value as is stated, and the same bits in every lane and at every width."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_running import assert_same, call
from exact_math import BOUNDS, NAMES, STATED, error_in_ulp
from hypothesis import given
from hypothesis import strategies as st
from small_kernels import mathematics

from eagle_cpu.engine import program_for
from eagle_cpu.engine.vector_math import functions
from eagle_ir import OPERATIONS, Type


@pytest.mark.property
@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_a_function_is_within_its_stated_error(name: str, data: Any) -> None:
    low, high = BOUNDS.get(name, (-1e300, 1e300))
    wide = st.floats(low, high)
    number = st.one_of(wide, st.floats(max(low, -3.0), min(high, 3.0))) if low < 3 else wide
    operands = [np.float64(data.draw(number)) for _ in range(OPERATIONS[name].operands)]
    if name == "atan2":  # mpmath's zero has no sign; the test below is for ours
        operands = [operand + 0.0 for operand in operands]
    if name == "pow":
        operands[1] = np.float64(data.draw(st.floats(-30.0, 30.0)))
    error = error_in_ulp(name, *operands)
    assert error <= STATED[name], f"{name}{tuple(operands)} is {error:.1f} ulp from the exact value"


def test_the_documentation_states_the_error_of_every_function() -> None:
    text = (Path(__file__).parents[3] / "docs" / "kernels.md").read_text()
    rows = re.findall(r"^\| (\d) \| (.*) \|$", text, re.M)
    stated = {name.strip("` "): int(bound) for bound, names in rows for name in names.split(",")}
    assert stated == STATED
    assert sorted(stated) == NAMES


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
