"""The plasma example: the period of theory, and the charge it deposits, against NumPy's."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "plasma.py"


@pytest.fixture(scope="module")
def plasma() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plasma", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["plasma"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("amplitude", [0.02, 0.2])
def test_the_period_is_that_of_the_theory_whatever_the_amplitude(plasma: ModuleType, amplitude: float) -> None:
    made = plasma.Plasma(electrons=8000, amplitude=amplitude)
    assert abs(plasma.period(*made.run(3 * plasma.LENGTH)) / plasma.LENGTH - 1) < 2e-3


def test_what_is_deposited_is_what_numpy_counts(plasma: ModuleType) -> None:
    made = plasma.Plasma(electrons=500, cells=16)
    x = made.x.copy()
    made.graph.launch()
    place = x * 16 / plasma.LENGTH
    low = np.floor(place).astype(int)
    share = place - low
    wanted = np.ones(16)
    np.subtract.at(wanted, low % 16, 16 / 500 * (1 - share))
    np.subtract.at(wanted, (low + 1) % 16, 16 / 500 * share)
    np.testing.assert_allclose(made.density, wanted, atol=1e-12)
    assert abs(made.density.sum()) < 1e-12
