"""A Warp kernel in the step of a loop: ``until_done([launch, plan])``."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
import warp_kernels as kernels
from kernels import move

import eagle
from eagle.frameworks.warp import launch


def test_a_kernel_and_a_plan_run_in_list_order_once_per_step_and_leave_finished_samples_alone() -> None:
    x, force, done = np.array([1.5, 8.0, 0.5]), np.zeros(3), np.zeros(3, bool)
    push = launch(kernels.until_small, 3, [x, done], [force])
    runner = eagle.until_done(
        [push, eagle.deploy(move, steps=1)], x=x, force=force, terminated=done, steps_per_sample=True
    )
    report = runner.run()
    assert (report.status, report.steps, report.finished) == ("finished", 4, 3)
    assert x.tolist() == [0.75, 0.5, 0.25]
    assert runner.steps_taken.tolist() == [1, 4, 1]
    assert force.tolist() == [-0.75, -0.5, -0.25]  # of each sample's last step


def test_planes_of_the_loop_may_be_warps_arrays() -> None:
    def array(values: Any, dtype: Any) -> Any:
        return wp.array(values, dtype=dtype, device="cpu")

    x, force, done = array([1.5, 8.0], wp.float64), array([0.0, 0.0], wp.float64), array([False, False], wp.bool)
    push = launch(kernels.until_small, 2, [x, done], [force])
    report = eagle.until_done([push, eagle.deploy(move, steps=1)], x=x, force=force, terminated=done).run(max_steps=3)
    assert (report.status, report.steps) == ("max_steps", 3)
    assert x.numpy().tolist() == [0.75, 1.0]
