"""The example of orbits in a well: forces against differences of the potential, energy against the step's own error."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "orbits_in_a_well.py"


@pytest.fixture(scope="module")
def orbits() -> ModuleType:
    spec = importlib.util.spec_from_file_location("orbits_in_a_well", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["orbits_in_a_well"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_error_in_energy_is_of_second_order_in_the_step(orbits: ModuleType) -> None:
    coarse, fine = (orbits.Well(orbits=100, dt=dt).run(20.0) for dt in (0.04, 0.02))
    assert fine < 1e-3
    assert 3.5 < coarse / fine < 4.5


def test_the_forces_are_slopes_of_the_potential(orbits: ModuleType) -> None:
    well = orbits.Well(orbits=50)
    well.run(3.0)
    x, y, h = well.planes["x"], well.planes["y"], 1e-5
    slope = (orbits.potential(x + h, y) - orbits.potential(x - h, y)) / (2 * h)
    np.testing.assert_allclose(well.planes["fx"], -slope, atol=1e-9)
    np.testing.assert_allclose(well.planes["height"], orbits.potential(x, y), rtol=1e-14)


def test_no_orbit_of_this_energy_leaves_the_well(orbits: ModuleType) -> None:
    well = orbits.Well(orbits=200)
    for _ in range(20):
        well.run(5.0)
        assert np.hypot(well.planes["x"], well.planes["y"]).max() < 1.0
