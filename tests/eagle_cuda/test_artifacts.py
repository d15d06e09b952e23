"""Compiled kernels as bound plans: in graphs, and in the steps of a pipeline, as the page's low-level door has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from gravity import MU, agrees, gravity, planes

import eagle
from eagle import GraphPipeline
from eagle.plugin import Kernel
from eagle_cuda import Artifact, launch_here, load


@pytest.fixture
def pull(device: Any) -> Kernel:
    return gravity()


@pytest.fixture
def given() -> dict[str, Any]:
    return planes()


def test_a_compiled_kernel_is_a_node_like_any_other(pull: Kernel, given: dict[str, Any]) -> None:
    g = eagle.Graph().add(eagle.deploy(pull).bind(mu=MU, **given)).build()
    assert g.backend == "gpu"
    g.launch(5)
    assert agrees(given, 5)


def test_a_pipeline_records_its_launch(pull: Kernel, given: dict[str, Any]) -> None:
    load(pull)
    bound = eagle.deploy(pull).bind(mu=MU, **given)
    pipe = GraphPipeline()
    pipe.add(lambda: launch_here(bound))
    pipe.build("gpu")
    assert (given["out"].to_numpy() == 0).all()
    pipe.launch(n=5)
    assert agrees(given, 5)


def test_an_entry_that_is_not_in_the_image_is_refused(pull: Kernel) -> None:
    assert isinstance(pull.code, Artifact)
    with pytest.raises(eagle.BuildError, match="'gravity': there is no kernel 'other' in it"):
        load(replace(pull, code=replace(pull.code, entry="other")))


def test_an_image_that_is_none_is_refused(pull: Kernel, given: dict[str, Any]) -> None:
    broken = replace(pull, code=Artifact(image=b"nothing", entry="gravity"))
    g = eagle.Graph().add(eagle.deploy(broken).bind(mu=MU, **given), name="pull")
    with pytest.raises(eagle.BuildError, match="pull"):
        g.build()


def test_a_kernel_of_the_ir_is_not_launched_outside_a_graph(unordered: Any) -> None:
    import kernels

    with pytest.raises(eagle.BuildError, match="Add the bound plan to an eagle"):
        launch_here(eagle.deploy(kernels.bump).bind(x=DeviceArray(np.zeros(3))))


def test_the_host_does_not_run_it(pull: Kernel) -> None:
    host = {"out": np.zeros((3, 4)), "position": np.ones((3, 4)), "terminated": np.zeros(4, bool)}
    with pytest.raises(eagle.BuildError, match="cuda-artifact/1"):
        eagle.deploy(pull).bind(mu=MU, **host).launch()
