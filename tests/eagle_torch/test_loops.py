"""A model in the step of a loop: ``until_done([model, plan])``."""

from __future__ import annotations

from typing import Any

import framework_kernels
import pytest
import torch

import eagle
from eagle.errors import GraphError
from eagle.frameworks.torch import module
from eagle.graph import opaque


class Push(torch.nn.Module):
    """One where a sample is not done, else nothing; it counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Any, done: Any) -> Any:
        self.calls += 1
        return torch.where(done, 0.0, 1.0).to(x.dtype)


@pytest.fixture
def planes() -> dict[str, Any]:
    return {
        "x": torch.tensor([0.0, 2.0, 3.0, 9.0], dtype=torch.float64),
        "push": torch.zeros(4, dtype=torch.float64),
        "terminated": torch.zeros(4, dtype=torch.bool),
    }


def test_a_model_and_a_plan_run_in_list_order_once_per_step(planes: dict[str, Any]) -> None:
    model = Push().eval()
    node = module(model, {"x": planes["x"], "done": planes["terminated"]}, {"push": planes["push"]})
    runner = eagle.until_done([node, eagle.deploy(framework_kernels.fall, steps=1)], steps_per_sample=True, **planes)
    report = runner.run()
    assert (report.steps, report.finished, model.calls) == (4, 4, 4)
    assert planes["x"].tolist() == [4, 4, 4, 10]
    assert runner.steps_taken.tolist() == [4, 2, 1, 1]


def test_an_opaque_of_torch_does_as_well(planes: dict[str, Any]) -> None:
    done, push = planes["terminated"], planes["push"]
    node = opaque(lambda: torch.logical_not(done, out=push), reads={"done": done}, writes={"push": push})
    report = eagle.until_done([node, eagle.deploy(framework_kernels.fall, steps=1)], **planes).run(max_steps=3)
    assert report.steps == 3
    assert planes["x"].tolist() == [3, 4, 4, 10]


@pytest.mark.parametrize(
    ("tier", "says"), [({"stream": 7}, "node 'mine': a node with stream="), ({"eager": True}, "with eager=True")]
)
def test_what_the_host_runs_is_refused_with_the_way_out(tier: Any, says: str, planes: dict[str, Any]) -> None:
    node = opaque(lambda: None, reads={"x": planes["x"]}, name="mine", **tier)
    with pytest.raises(GraphError, match=rf"{says}.*runner\.run\(max_steps=k\)"):
        eagle.until_done([node, eagle.deploy(framework_kernels.fall, steps=1)], **planes)


def test_the_way_out_works(planes: dict[str, Any]) -> None:
    runner = eagle.until_done(eagle.deploy(framework_kernels.fall), **planes)
    while not runner.run(max_steps=1).done:
        planes["push"].copy_(~planes["terminated"])
    assert planes["x"].tolist() == [4, 4, 4, 9]
