"""JAX functions between captured graphs: in order, their results kept alive, refused where no host can be called."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from kernels import move

import eagle
from eagle.graph import opaque
from eagle.plugin import PlaneError

N = 8


@pytest.fixture
def node(jax: Any) -> Any:
    from eagle.frameworks.jax import node

    return node


def step(x: Any) -> dict[str, Any]:
    return {"y": x * 2.0 + 1.0}


def test_a_function_is_between_its_neighbours(seed: int, node: Any, cuda: Any) -> None:
    x, y, z = (cuda.array(np.ones(N)) for _ in range(3))
    g = eagle.Graph()
    g.add_node(opaque(cuda.scale(x, 10.0, x), reads={"x": x}, writes={"x": x}), name="before")
    g.add_node(node(step, {"x": x}, {"y": y}), name="model")
    g.add_node(opaque(cuda.scale(y, 2.0, z), reads={"y": y}, writes={"z": z}), name="after")
    g.add_node(opaque(cuda.shift(z, 0.0, x), reads={"z": z}, writes={"x": x}), name="back")
    g.build().launch(2)
    assert (g.backend, g.schedule) == ("gpu", ("capture", "eager_stream", "capture", "capture"))
    assert z.to_numpy().tolist() == [1682.0] * N


def test_the_host_waits_for_nothing(seed: int, node: Any, device: Any, cuda: Any) -> None:
    x, y = cuda.array(np.ones(N)), cuda.array(np.zeros(N))
    g = eagle.Graph().add_node(node(step, {"x": x}, {"y": y})).build()
    g.enqueue(3)
    g.synchronize()
    assert y.to_numpy().tolist() == [3.0] * N


def test_what_a_function_reads_may_be_written_by_it_and_by_the_next_node(seed: int, node: Any, cuda: Any) -> None:
    x, y = cuda.array(np.ones(N)), cuda.array(np.full(N, 5.0))
    swap = node(lambda x, y: {"x": y * 1.0, "y": x * 1.0}, {"x": x, "y": y}, {"x": x, "y": y})
    g = eagle.Graph().add_node(swap)
    g.add_node(opaque(cuda.shift(x, 1.0, x), reads={"x": x}, writes={"x": x}))
    g.build().launch(3)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (7.0, 2.0)


def test_results_live_until_they_are_copied(seed: int, node: Any, cuda: Any) -> None:
    x, y = cuda.array(np.ones(N)), cuda.array(np.zeros(N))
    g = eagle.Graph().add_node(node(step, {"x": x}, {"y": y})).build()
    for _ in range(4):
        g.enqueue()
        gc.collect()
    g.synchronize()
    assert y.to_numpy().tolist() == [3.0] * N


@pytest.mark.emulator_only
def test_no_object_of_the_driver_is_left(unordered: Any, node: Any, cuda: Any) -> None:
    from cuda_own import leaves_nothing
    from jax_stand_in import forget

    x, y = cuda.array(np.ones(N)), cuda.array(np.zeros(N))
    eagle.Graph().add_node(node(step, {"x": x}, {"y": y})).build().launch(2)
    forget()
    with leaves_nothing(unordered):
        eagle.Graph().add_node(node(step, {"x": x}, {"y": y})).build().launch(2)
        forget()


# refused --------------------------------------------------------------------------------------------------------------


def test_it_is_refused_inside_a_loop_with_the_pages_advice(unordered: Any, node: Any, cuda: Any) -> None:
    x, y, flag = cuda.array(np.ones(N)), cuda.array(np.zeros(N)), cuda.array([1], np.int32)
    loop = eagle.repeat_while(node(step, {"x": x}, {"y": y}), eagle.SkipGuard.nonzero(flag), 3)
    with pytest.raises(eagle.BuildError, match=r"a JAX function cannot stand inside .* runner\.run\(max_steps=k\)"):
        eagle.Graph().add_node(loop, name="loop").build()


def test_it_is_refused_in_the_step_of_a_loop_with_the_pages_advice(unordered: Any, node: Any, cuda: Any) -> None:
    planes = {
        "x": cuda.array(np.ones(N)),
        "force": cuda.array(np.zeros(N)),
        "terminated": cuda.array([False] * N, bool),
    }
    model = node(lambda x: {"force": x * -0.5}, {"x": planes["x"]}, {"force": planes["force"]})
    runner = eagle.until_done([model, eagle.deploy(move, steps=1)], **planes)
    with pytest.raises(eagle.BuildError, match=r"a JAX function cannot stand inside .* runner\.run\(max_steps=k\)"):
        runner.run()


def test_it_is_refused_in_a_group(unordered: Any, node: Any, cuda: Any) -> None:
    x, y, z = cuda.array(np.ones(N)), cuda.array(np.zeros(N)), cuda.array(np.zeros(N))
    branches = [node(step, {"x": x}, {"y": y}), opaque(cuda.scale(x, 2.0, z), reads={"x": x}, writes={"z": z})]
    with pytest.raises(eagle.BuildError, match="cannot stand inside a group"):
        eagle.Graph().add_group(branches).build()


def test_a_plane_that_is_not_contiguous_is_refused_with_the_way_out(unordered: Any, node: Any, cuda: Any) -> None:
    x, y = cuda.array(np.ones(2 * N))[::2], cuda.array(np.zeros(N))
    with pytest.raises(PlaneError, match=r"node 'step', plane 'x': the array is not contiguous.*eagle\.copy"):
        eagle.Graph().add_node(node(step, {"x": x}, {"y": y})).build()


def test_jax_without_the_device_is_refused(unordered: Any, node: Any, cuda: Any, jax: Any, monkeypatch: Any) -> None:
    def none(backend: str) -> list[Any]:
        raise RuntimeError("Unknown backend cuda")

    monkeypatch.setattr(jax, "local_devices", none)
    x, y = cuda.array(np.ones(N)), cuda.array(np.zeros(N))
    with pytest.raises(eagle.BuildError, match=r"node 'step': JAX has no CUDA device here.*pip install jax\[cuda13\]"):
        eagle.Graph().add_node(node(step, {"x": x}, {"y": y})).build()
