"""Weights as planes: what an optimizer writes in place is seen, what moved is refused, and back by DLPack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from framework_kernels import twice, weigh

import eagle
from eagle.errors import PlaneError, PlaneTypeError
from eagle.graph import opaque
from eagle.interop import import_buffer


@pytest.fixture
def parameter() -> Any:
    return torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))


def weighing(weights: Any) -> tuple[eagle.Graph, Any]:
    x = torch.zeros(2, dtype=torch.float64)
    g = eagle.Graph().add(eagle.deploy(weigh).bind(weights=import_buffer(weights), x=x), name="weigh")
    return g.build().launch(), x


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.Adam], ids=["SGD", "Adam"])
def test_an_optimizers_step_is_seen_by_the_next_launch(make: Any, parameter: Any) -> None:
    g, x = weighing(parameter)
    assert x.tolist() == [4, 4]
    optimizer = make([parameter], lr=0.5)
    (parameter * torch.tensor([1.0, 0.0, 2.0])).sum().backward()
    optimizer.step()
    g.launch()
    assert x.tolist() == [(parameter[0] + parameter[2]).item()] * 2
    assert x[0] < 4


def reassign(one: Any) -> None:
    one.data = torch.zeros(3, dtype=torch.float64)


def retype(one: Any) -> None:
    torch.nn.ParameterList([one]).to(torch.float32)


@pytest.mark.parametrize(
    "change",
    [
        reassign,
        retype,
        lambda one: one.untyped_storage().resize_(1 << 16),
        lambda one: one.set_(torch.zeros(3, dtype=torch.float64)),
    ],
)
def test_other_memory_is_refused_by_name(change: Callable[[Any], object], parameter: Any) -> None:
    g, x = weighing(parameter)
    buffer = import_buffer(parameter)
    with torch.no_grad():
        change(parameter)
    with pytest.raises(PlaneError, match=r"node 'weigh', plane 'weights'.*tensor\.data.*new import_buffer"):
        g.launch()
    with pytest.raises(PlaneError, match=r"plane 'weights'.*the Parameter has other memory"):
        eagle.deploy(weigh).bind(weights=buffer, x=x)
    with pytest.raises(PlaneError, match="other memory"):
        np.from_dlpack(buffer)


def test_a_buffer_is_the_same_memory_on_the_way_back(parameter: Any) -> None:
    buffer = import_buffer(parameter)
    tensor, array = torch.from_dlpack(buffer), np.from_dlpack(buffer)
    assert tensor.data_ptr() == parameter.data_ptr() == array.ctypes.data == buffer.memory.address
    tensor[1] = 9.0
    assert parameter[1].item() == array[1] == 9.0
    assert buffer.owner is parameter


def test_a_buffer_overlaps_what_its_owner_does(parameter: Any) -> None:
    g = eagle.Graph()
    g.add_node(opaque(lambda: None, writes={"tail": parameter.detach()[1:]}))
    g.add_node(opaque(lambda: None, reads={"w": import_buffer(parameter)}))
    assert [(edge.src, edge.dst) for edge in g.edges()] == [(0, 1)]


def test_arrays_of_other_libraries_are_buffers_too() -> None:
    owner = np.arange(3.0)
    buffer = import_buffer(owner)
    assert np.from_dlpack(buffer).ctypes.data == owner.ctypes.data
    owner.resize(8, refcheck=False)
    with pytest.raises(PlaneError, match="the ndarray has other memory"):
        buffer.describe()


def test_what_has_no_memory_is_no_buffer() -> None:
    with pytest.raises(PlaneTypeError, match="list is not an array"):
        import_buffer([1.0])
    with pytest.raises(PlaneError, match="sparse"):
        import_buffer(torch.ones(3).to_sparse())


def test_a_parameter_is_never_written(parameter: Any) -> None:
    with pytest.raises(PlaneError, match="requires grad"):
        eagle.deploy(weigh).bind(weights=torch.ones(3, dtype=torch.float64), x=import_buffer(parameter))


def test_new_arrays_are_of_the_owners_library(parameter: Any) -> None:
    made = eagle.deploy(twice).run(w=import_buffer(parameter))
    assert isinstance(made, torch.Tensor)
    assert made.tolist() == [2, 4, 6]
