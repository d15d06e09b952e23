"""The example of a policy in closed loop: what was learned is seen by the loop that was built before."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

EXAMPLE = Path(__file__).parents[2] / "examples" / "torch_policy.py"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def policies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("torch_policy", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["torch_policy"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_trained_policy_holds_what_the_untrained_one_drops(policies: ModuleType, tmp_path: Path) -> None:
    plot = tmp_path / "policy.svg"
    before, after = policies.main(400, str(plot))
    assert before < 40
    assert after > 380
    assert plot.read_text().count("<path") > 80


def test_the_loop_is_the_plant_step_by_step(policies: ModuleType) -> None:
    torch.manual_seed(3)
    policy = policies.Policy().eval()
    loop = policies.ClosedLoop(policy, 5)
    angles, _ = loop.run()
    angle, speed = loop.start.clone()
    for row in angles[1:40]:
        with torch.no_grad():
            push = policy(angle, speed)
        standing = angle.abs() <= policies.FALLEN
        speed = torch.where(standing, speed + policies.DT * (policies.G * torch.sin(angle) + push), speed)
        angle = torch.where(standing, angle + policies.DT * speed, angle)
        assert np.allclose(row, angle.numpy(), rtol=1e-9)
