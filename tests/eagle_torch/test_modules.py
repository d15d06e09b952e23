"""Modules as nodes on the CPU: a plain call in inference mode, outputs copied, everything else refused by name."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import torch

import eagle
from eagle.errors import GraphError, GraphTypeError, PlaneError
from eagle.frameworks.torch import module
from eagle.graph import opaque


class Calls(torch.nn.Module):
    """A module made of a function."""

    def __init__(self, function: Any, **parameters: Any) -> None:
        super().__init__()
        for name, one in parameters.items():
            self.register_buffer(name, one)
        self.function = function
        self.eval()

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def built(function: Any, reads: Any, writes: Any) -> eagle.Graph:
    return eagle.Graph().add_node(module(Calls(function), reads, writes), name="model").build()


def test_outputs_go_into_the_planes() -> None:
    x, y = torch.arange(6.0).reshape(3, 2), torch.full((3, 4), 9.0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4)).eval()
    g = eagle.Graph().add_node(module(model, reads={"x": x}, writes={"y": y})).build().launch()
    with torch.no_grad():
        assert torch.equal(y, model(x))
    assert g.node_labels() == ("Sequential",)
    x += 1.0
    g.launch()
    with torch.no_grad():
        assert torch.equal(y, model(x))


def test_it_runs_in_inference_mode_and_leaves_the_planes_to_autograd() -> None:
    seen = []
    x, y = torch.ones(2), torch.zeros(2)
    weight = torch.ones(2, requires_grad=True)
    built(lambda x: seen.append(torch.is_inference_mode_enabled()) or x * weight, x, y).launch()  # type: ignore[func-returns-value]
    assert seen == [True]
    assert not torch.is_inference_mode_enabled()
    assert not y.requires_grad
    (y * weight).sum().backward()  # an inference tensor could not be saved for this
    assert weight.grad is not None


def test_numpy_arrays_are_given_as_tensors_over_their_memory() -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(3, 2), np.zeros((2, 3), np.float32)
    seen: list[Any] = []
    x.flags.writeable = False
    built(lambda one: seen.append(one) or one.T * 2, {"x": x}, {"y": y}).launch()  # type: ignore[func-returns-value]
    assert seen[0].data_ptr() == x.ctypes.data
    assert np.array_equal(y, x.T * 2)


def test_what_an_optimizer_did_is_seen_by_the_next_launch() -> None:
    x, y = torch.ones(1, 1), torch.zeros(1, 1)
    model = torch.nn.Linear(1, 1, bias=False).eval()
    g = eagle.Graph().add_node(module(model, x, y)).build().launch()
    before = y.item()
    model(x).sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    g.launch()
    assert y.item() == pytest.approx(before - 0.5)


def test_several_outputs_by_order_or_by_name() -> None:
    x, y, z = torch.arange(3.0), torch.zeros(3), torch.zeros(())
    built(lambda x: (x + 1, x.sum()), {"x": x}, {"y": y, "z": z}).launch()
    assert (y.tolist(), z.item()) == ([1, 2, 3], 3)
    built(lambda x: {"z": x.max(), "y": x + 2}, {"x": x}, {"y": y, "z": z}).launch()
    assert (y.tolist(), z.item()) == ([2, 3, 4], 2)


def test_outputs_that_are_views_of_inputs_are_all_made_before_any_is_copied() -> None:
    x, y = torch.arange(3.0), torch.arange(3.0) + 10
    built(lambda x, y: (y, x), {"x": x, "y": y}, {"x": x, "y": y}).launch()
    assert (x.tolist(), y.tolist()) == ([10, 11, 12], [0, 1, 2])
    built(lambda x: x.flip(0), {"x": x}, {"x": x}).launch()
    assert x.tolist() == [12, 11, 10]
    base = torch.arange(4.0)
    built(lambda x: x[:3], {"x": base}, {"tail": base[1:]}).launch()
    assert base.tolist() == [0, 0, 1, 2]


def test_edges_follow_from_its_planes() -> None:
    x, y, z = torch.ones(3, 1), torch.zeros(3, 1), torch.zeros(3)
    g = eagle.Graph()
    g.add_node(opaque(lambda: x.mul_(2), reads={"x": x}, writes={"x": x}))
    g.add_node(module(torch.nn.Identity().eval(), {"in": x}, {"y": y}))
    g.add_node(eagle.copy(y[:, 0], into=z))
    assert [(edge.src, edge.dst) for edge in g.edges(reduced=True)] == [(0, 1), (1, 2)]
    g.build().launch()
    assert z.tolist() == [2, 2, 2]


def test_a_conditional_holds_one() -> None:
    x, y, going = torch.ones(2), torch.zeros(2), np.array([3])
    count = opaque(lambda: np.subtract(going, 1, out=going), reads={"n": going}, writes={"n": going})
    step = module(Calls(lambda x, y: x + y), {"x": x, "y": y}, {"y": y})
    eagle.Graph().add_node(eagle.repeat_while((step, count), eagle.SkipGuard.nonzero(going))).build().launch()
    assert y.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: x[:1], r"plane 'y'.*gives float32\[1\] and the plane holds float32\[3\]"),
        (lambda x: x.double(), r"gives float64\[3\] and the plane holds float32\[3\]"),
        (lambda x: x.reshape(1, 3), r"gives float32\[1, 3\]"),
        (lambda x: (x, x), "returned 2 values.*its node writes 'y'"),
        (lambda x: {"z": x}, "returned a mapping of 'z'.*its node writes 'y'"),
        (lambda x: None, "returned a NoneType"),
        (lambda x: [3.0], "returned 1 values"),
        (lambda x: x.mul_(2), "plane 'x'.*changed an input in place"),
        (lambda x: torch.empty(3, device="meta"), "on meta, and the plane is on cpu"),
    ],
)
def test_what_is_not_its_output_is_refused_by_name(function: Any, says: str) -> None:
    g = built(function, {"x": torch.ones(3)}, {"y": torch.zeros(3)})
    with pytest.raises((GraphError, PlaneError), match=f"node 'model'.*{says}"):
        g.launch()


def test_of_several_inputs_that_it_may_have_changed_all_are_named() -> None:
    g = built(lambda a, b: b.add_(a), {"a": torch.ones(2), "b": torch.ones(2)}, torch.zeros(2))
    with pytest.raises(PlaneError, match="an input in place, one of 'a', 'b'"):
        g.launch()


def test_an_output_whose_shape_changes_is_refused_when_it_does() -> None:
    x, y = torch.tensor([1.0, 2.0, -1.0]), torch.zeros(2)
    g = built(lambda x: x[x > 0], {"x": x}, {"y": y}).launch()
    assert y.tolist() == [1, 2]
    x[2] = 3.0
    with pytest.raises(PlaneError, match=r"node 'model', plane 'y'.*float32\[3\]"):
        g.launch()
    assert y.tolist() == [1, 2]


def test_a_module_in_training_mode_is_refused_at_the_launch() -> None:
    model = torch.nn.Dropout()
    g = eagle.Graph().add_node(module(model, torch.ones(3), torch.zeros(3)), name="drop").build()
    with pytest.raises(GraphError, match=r"node 'drop'.*training mode.*model\.eval\(\)"):
        g.launch()
    model.eval()
    g.launch()


def test_what_a_module_raises_passes_unchanged() -> None:
    def fail(x: Any) -> Any:
        raise KeyError("mine")

    y = torch.ones(3)
    g = built(fail, torch.ones(3), y)
    with pytest.raises(KeyError, match="mine") as caught:
        g.launch()
    assert any("'model'" in note for note in caught.value.__notes__)
    assert y.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("model", "reads", "writes", "says"),
    [
        (lambda x: x, torch.ones(1), torch.ones(1), "takes a torch.nn.Module.*opaque"),
        (torch.nn.Linear, torch.ones(1), torch.ones(1), "takes a torch.nn.Module"),
        (torch.nn.Identity(), {}, torch.ones(1), "needs reads="),
        (torch.nn.Identity(), torch.ones(1), None, "needs writes="),
        (torch.nn.Identity(), {3: torch.ones(1)}, torch.ones(1), "names a plane 3"),
    ],
)
def test_what_is_no_module_or_no_plane_is_refused(model: Any, reads: Any, writes: Any, says: str) -> None:
    with pytest.raises(GraphTypeError, match=says):
        module(model, reads, writes)


def test_planes_that_torch_cannot_describe_are_refused() -> None:
    x, y = np.ones(3, np.float32)[::-1], np.zeros(3, np.float32)
    g = eagle.Graph().add_node(module(torch.nn.Identity().eval(), {"x": x}, {"y": y}), name="model")
    with pytest.raises(PlaneError, match=r"node 'model', plane 'x'.*strides \[-4\]"):
        g.build()


def test_a_model_on_another_device_than_its_planes_is_refused() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(1, 1, device="meta"))
    with pytest.raises(PlaneError, match=r"parameter '0.weight' of the module is on meta, and plane 'x' on cpu"):
        module(model, {"x": torch.ones(1, 1)}, {"y": torch.ones(1, 1)})


def test_an_array_that_was_resized_is_never_touched_through_a_tensor() -> None:
    x, y = np.ones(1 << 18, np.float32), np.zeros(1 << 18, np.float32)
    g = eagle.Graph().add_node(module(torch.nn.Identity().eval(), {"x": x}, {"y": y}), name="model").build().launch()
    x.resize(1, refcheck=False)
    with pytest.raises(PlaneError, match="node 'model', plane 'x': the array moved"):
        g.launch()


@pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning")  # where JAX is imported too
def test_a_forked_worker_runs_it() -> None:
    x, y = torch.ones(3), torch.zeros(3)
    g = built(lambda x: x * 2, x, y).launch()
    if (child := os.fork()) == 0:
        try:
            x += 1
            os._exit(0 if g.launch() is g and y.tolist() == [4, 4, 4] else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert y.tolist() == [2, 2, 2]


def test_inference_tensors_are_planes_of_a_module() -> None:
    with torch.inference_mode():
        x, y = torch.ones(3), torch.zeros(3)
    built(lambda x: x + 1, {"x": x}, {"y": y}).launch()
    assert y.tolist() == [2, 2, 2]
