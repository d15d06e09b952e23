"""A JAX function in the step of a loop on the CPU: ``until_done([node, plan])``."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from kernels import move

import eagle
from eagle.frameworks.jax import node


def push(x: Any, terminated: Any, force: Any) -> dict[str, Any]:
    """Pull towards zero; the force of a finished sample stays as it was."""
    return {"force": jnp.where(terminated, force, -0.5 * x)}


def test_a_function_and_a_plan_run_in_list_order_once_per_step_and_leave_finished_samples_alone() -> None:
    x, force, done = np.array([1.5, 8.0, 0.5]), np.zeros(3), np.zeros(3, bool)
    model = node(push, {"x": x, "terminated": done, "force": force}, {"force": force})
    plan = eagle.deploy(move, steps=1)
    runner = eagle.until_done([model, plan], x=x, force=force, terminated=done, steps_per_sample=True)
    report = runner.run()
    assert (report.status, report.steps, report.finished) == ("finished", 4, 3)
    assert x.tolist() == [0.75, 0.5, 0.25]
    assert force.tolist() == [-0.75, -0.5, -0.25]
    assert runner.steps_taken.tolist() == [1, 4, 1]
