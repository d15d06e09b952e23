"""Compiled kernels as bound plans: in graphs, and in the steps of a pipeline, as the page's low-level door has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray

import eagle
from eagle import GraphPipeline
from eagle.plugin import Kernel
from eagle_cuda import Artifact, launch_here, load

MU = 3.986004418e5
N = 100


@pytest.fixture
def gravity(device: Any) -> Kernel:
    from gravity import gravity

    return gravity()


@pytest.fixture
def planes() -> dict[str, Any]:
    position = np.random.default_rng(2).uniform(7.0e3, 4.2e4, size=(3, N))
    done = np.arange(N) % 10 == 3
    return {"out": DeviceArray(np.zeros((3, N))), "position": DeviceArray(position), "terminated": DeviceArray(done)}


def expected(planes: dict[str, Any], times: int) -> np.ndarray:
    position = planes["position"].to_numpy()
    once = -MU * position / np.linalg.norm(position, axis=0) ** 3
    return np.where(planes["terminated"].to_numpy(), 0.0, times * once)


def test_a_compiled_kernel_is_a_node_like_any_other(gravity: Kernel, planes: dict[str, Any]) -> None:
    g = eagle.Graph().add(eagle.deploy(gravity).bind(mu=MU, **planes)).build()
    assert g.backend == "gpu"
    g.launch(5)
    np.testing.assert_allclose(planes["out"].to_numpy(), expected(planes, 5), rtol=1e-14)


def test_a_pipeline_records_its_launch(gravity: Kernel, planes: dict[str, Any]) -> None:
    load(gravity)
    bound = eagle.deploy(gravity).bind(mu=MU, **planes)
    pipe = GraphPipeline()
    pipe.add(lambda: launch_here(bound))
    pipe.build("gpu")
    assert (planes["out"].to_numpy() == 0).all()
    pipe.launch(n=5)
    np.testing.assert_allclose(planes["out"].to_numpy(), expected(planes, 5), rtol=1e-14)


def test_an_entry_that_is_not_in_the_image_is_refused(gravity: Kernel) -> None:
    assert isinstance(gravity.code, Artifact)
    with pytest.raises(eagle.BuildError, match="'gravity': there is no kernel 'other' in it"):
        load(replace(gravity, code=replace(gravity.code, entry="other")))


def test_an_image_that_is_none_is_refused(gravity: Kernel, planes: dict[str, Any]) -> None:
    broken = replace(gravity, code=Artifact(image=b"nothing", entry="gravity"))
    g = eagle.Graph().add(eagle.deploy(broken).bind(mu=MU, **planes), name="pull")
    with pytest.raises(eagle.BuildError, match="pull"):
        g.build()


def test_a_kernel_of_the_ir_is_not_launched_outside_a_graph(planes: dict[str, Any]) -> None:
    import kernels

    with pytest.raises(eagle.BuildError, match="Add the bound plan to an eagle"):
        launch_here(eagle.deploy(kernels.bump).bind(x=DeviceArray(np.zeros(3))))


def test_the_host_does_not_run_it(gravity: Kernel) -> None:
    host = {"out": np.zeros((3, 4)), "position": np.ones((3, 4)), "terminated": np.zeros(4, bool)}
    with pytest.raises(eagle.BuildError, match="cuda-artifact/1"):
        eagle.deploy(gravity).bind(mu=MU, **host).launch()
