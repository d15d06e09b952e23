"""Loops of plans beside captured code and children, what is made for them on the device, and what repeats build."""

from __future__ import annotations

from typing import Any

import cuda_frame
import kernels
import numpy as np
import pytest
from cuda.core import LaunchConfig
from cuda.core.graph import GraphDefinition
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE, CudaDevice
from cuda_emulator import Emulator

import eagle
from eagle.graph import child, opaque
from eagle_cuda.driver import abilities

DEVICE = CudaDevice()


def counts(*values: int) -> DeviceArray:
    return DeviceArray(np.array(values, np.int32))


def adding(x: DeviceArray, how: str) -> Any:
    """A node that adds 1: captured code, or a graph captured elsewhere."""
    if how == "opaque":
        return opaque(DEVICE.shift(x, 1.0, x), reads={"x": x}, writes={"x": x}, name="model")
    kernel = cuda_frame.compiled(SOURCE, "shift")
    made, config = GraphDefinition(), LaunchConfig(grid=1, block=len(x))
    made.launch(config, kernel, x.address, np.int64(8), np.float64(1), x.address, np.int64(8))
    return child(made, reads={"x": x}, writes={"x": x})


@pytest.mark.parametrize("how", ["opaque", "child"])
def test_a_step_of_captured_work_and_a_plan_runs_in_list_order(device: Emulator, how: str) -> None:
    cuda_frame.compiled(SOURCE, "shift")
    x, y = DeviceArray(np.zeros(3)), DeviceArray(np.zeros(3))
    parts = [adding(x, how), eagle.deploy(kernels.affine, steps=1), eagle.deploy(kernels.count_down, steps=1)]
    runner = eagle.until_done(parts, a=x, x=y, left=counts(1, 3, 2), steps_per_sample=True)
    report = runner.run()
    assert (report.status, report.steps, report.launches, report.native_launches) == ("finished", 3, 3, 1)
    assert report.driven == ("device" if abilities().conditional_nodes else "host")
    assert ("driven by the host" in report.notes) == (report.driven == "host")
    assert x.to_numpy().tolist() == [3, 3, 3]  # captured work is for the whole batch
    assert y.to_numpy().tolist() == [1, 10, 3]  # ((0 * 1 + 1) * 2 + 1) * 3 + 1
    assert np.asarray(runner.steps_taken).tolist() == [1, 3, 2]


def test_a_loop_is_built_once_per_limit(device: Emulator) -> None:
    left = counts(9, 9)
    runner = eagle.until_done(eagle.deploy(kernels.count_down), left=left, max_steps=3)
    first, second, other = runner.run(), runner.run(), runner.run(1)
    assert first.build_s > 0
    assert second.build_s == 0
    assert other.build_s > 0
    assert left.to_numpy().tolist() == [2, 2]
    assert runner.reset().run().build_s == 0


def test_what_is_made_beside_cupys_arrays_is_cupys(cupy: Any, unordered: Emulator) -> None:
    x = cupy.arange(4)
    out = eagle.deploy(kernels.scale).run(x=x, factor=2.0)
    assert isinstance(out, cupy.ndarray)
    assert out.get().tolist() == [0, 2, 4, 6]
    result = eagle.simulate(kernels.decay, x=cupy.arange(4), rate=cupy.ones(4), max_steps=2, steps_per_sample=True)
    assert isinstance(result.terminated, cupy.ndarray)
    assert isinstance(result.steps, cupy.ndarray)
    assert result.steps.get().tolist() == [1, 2, 2, 2]


def test_copies_and_sums_leave_the_repetitions_after_a_fault_alone(device: Emulator) -> None:
    x, y, total = DeviceArray(np.ones(3)), DeviceArray(np.zeros(3)), DeviceArray(np.zeros(1))
    i, table = DeviceArray(np.array([0, 1, 2])), DeviceArray(np.ones(2))
    g = eagle.Graph()
    g.add_node(eagle.copy(x, into=y)).add_node(eagle.reduce(y, total))
    g.add(eagle.deploy(kernels.look_up).bind(i=i, table=table, out=DeviceArray(np.zeros(3))))
    g.add(eagle.deploy(kernels.bump).bind(x=x)).build()
    with pytest.raises(IndexError, match="sample 2"):
        g.launch(3)
    assert x.to_numpy().tolist() == [2, 2, 2]
    assert y.to_numpy().tolist() == [1, 1, 1]  # and not what a second repetition would copy
    assert total.to_numpy()[0] == 3
    i.fill_from(0)
    g.launch(2)
    assert (x.to_numpy()[0], y.to_numpy()[0], total.to_numpy()[0]) == (4, 3, 9)
