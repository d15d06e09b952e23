"""The orbits example: samples against SciPy at tight tolerance."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

scipy_integrate: Any = pytest.importorskip("scipy.integrate")

EXAMPLE = Path(__file__).parents[2] / "examples" / "orbits.py"


@pytest.fixture(scope="module")
def orbits() -> ModuleType:
    spec = importlib.util.spec_from_file_location("orbits", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["orbits"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference(orbits: ModuleType, r: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray]:
    """Time and position of the next ascending node, by SciPy's DOP853 on plain Cartesian equations."""

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        x, speed = y[:3], y[3:]
        d2 = x @ x
        q = 1.5 * orbits.J2 * orbits.RADIUS**2 / d2
        s = 5 * x[2] ** 2 / d2
        pull = -orbits.MU / d2**1.5 * x * np.array([1 + q * (1 - s), 1 + q * (1 - s), 1 + q * (3 - s)])
        return np.concatenate([speed, pull])

    def node(t: float, y: np.ndarray) -> float:
        return float(y[2])

    node.terminal, node.direction = True, 1  # type: ignore[attr-defined]
    solved = scipy_integrate.solve_ivp(
        rates, (0, 1e7), np.concatenate([r, v]), method="DOP853", rtol=1e-12, atol=1e-9, events=node
    )
    assert solved.status == 1
    return float(solved.t_events[0][0]), solved.y_events[0][0][:3]


def test_samples_agree_with_scipy(orbits: ModuleType) -> None:
    samples = 330
    r0, v0, _ = orbits.states(orbits.disperse(samples, seed=3))
    result, _ = orbits.run(samples, seed=3)
    assert result.status == "finished"
    assert np.abs(result.r[2]).max() < 1e-6
    periods = 2 * np.pi / orbits.disperse(samples, seed=3)[5]
    for sample in (0, 2, 3, 5, 8, 16, 26, 199):  # near circles and ellipses, low and high
        t, position = reference(orbits, r0[:, sample], v0[:, sample])
        assert abs(result.t[sample] - t) < 1e-9 * periods[sample]
        assert np.linalg.norm(result.r[:, sample] - position) < 1e-7 * np.linalg.norm(position)


def test_the_data_are_the_33_sets_of_the_verification(orbits: ModuleType) -> None:
    assert orbits.elements().shape == (6, 33)
    assert "AIAA 2006-6753" in orbits.ELEMENTS.read_text()


def test_steps_differ_from_sample_to_sample(orbits: ModuleType) -> None:
    result, _ = orbits.run(1000)
    assert 1 <= result.steps.min() < 100
    assert 600 < result.steps.max() <= 2 * orbits.STEPS_PER_ORBIT
