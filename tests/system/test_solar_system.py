"""The example on real input: energy and the planetary theory."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "solar_system.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    import sys

    spec = importlib.util.spec_from_file_location("solar_system", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["solar_system"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_year_keeps_the_energy_and_meets_the_theory(example: ModuleType) -> None:
    system = example.SolarSystem()
    assert system.run(example.YEAR_DAYS) == 1461
    assert system.reports[0] == 14
    assert 0 < system.worst_drift[0] < 1e-6
    assert 0 < system.distance_km(example.J2000 + example.YEAR_DAYS) < 20_000


def test_the_graph_gives_the_bits_of_a_plain_loop(example: ModuleType) -> None:
    system, plain = example.SolarSystem(), example.SolarSystem()
    system.run(10)
    x, v, a, h = plain.position, plain.velocity, plain.acceleration, plain.step_days
    for _ in range(40):
        v += h / 2 * a
        x += h * v
        a[:] = example.accelerations(x)
        v += h / 2 * a
    np.testing.assert_array_equal(system.position, x)
    np.testing.assert_array_equal(system.velocity, v)


def test_the_graph_shows_its_group_and_its_conditional(example: ModuleType) -> None:
    text = str(example.SolarSystem().graph)
    for part in ("1 group", "skip if guard", "potential", "energy"):
        assert part in text
