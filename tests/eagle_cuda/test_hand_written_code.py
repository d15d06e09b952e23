"""CUDA C++ written by hand and launched through cuda.core, in every place that an opaque node can stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda_frame
import pytest
from cuda.core import LaunchConfig, Stream, launch
from cuda_emulator import Emulator
from cuda_own import own_stream

import eagle
import eagle_cuda
from eagle.graph import Node, opaque

Cuda = Any
SOURCE = """
extern "C" __global__ void twice(double* x, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""
N = 5


def twice(x: Any) -> Callable[[], None]:
    """What anybody would write: a launch on the stream that eagle says is current."""
    kernel = cuda_frame.compiled(SOURCE, "twice")
    config = LaunchConfig(grid=2, block=4)

    def run() -> None:
        stream = Stream.from_handle(int(eagle_cuda.current_stream()))
        launch(stream, config, kernel, x.address, x.shape[0])

    return run


def node(x: Any, **tier: Any) -> Node[Any]:
    return opaque(twice(x), reads={"x": x}, writes={"x": x}, **tier)


@pytest.fixture
def x(cuda: Cuda, seed: int) -> Any:
    return cuda.array([1.0] * N)


def test_it_is_captured(x: Any) -> None:
    g = eagle.Graph().add_node(node(x)).add_node(node(x)).build().launch(2)
    assert (g.schedule, g.captures) == (("capture", "capture"), 1)
    assert x.to_numpy().tolist() == [16.0] * N


def test_it_is_captured_in_a_group(cuda: Cuda, x: Any) -> None:
    y = cuda.array([1.0] * N)
    eagle.Graph().add_group([node(x), [node(y), node(y)]]).add_node(eagle.copy(y, into=x)).build().launch(2)
    assert x.to_numpy().tolist() == [16.0] * N


def test_it_is_captured_in_conditionals(cuda: Cuda, x: Any) -> None:
    flags = cuda.array([1, 0], "int32")
    on, off = (eagle.SkipGuard.nonzero(flags, index) for index in range(2))
    g = eagle.Graph().add_node(eagle.skippable(node(x), on)).add_node(eagle.skippable(node(x), off))
    g.add_node(eagle.repeat_while(eagle.skippable(node(x), on), on, 3)).build().launch()
    assert x.to_numpy().tolist() == [16.0] * N


def test_it_is_recorded_by_a_pipeline_in_order_with_the_callers_stream(x: Any, emulator: Emulator) -> None:
    pipe = eagle.GraphPipeline().add(twice(x)).add(twice(x)).build("gpu")
    assert (pipe.backend, pipe.captures) == ("gpu", 1)
    with own_stream() as stream, eagle_cuda.use_stream(stream):
        twice(x)()
        pipe.enqueue(2)
        twice(x)()
    assert x.to_numpy().tolist() == [64.0] * N


@pytest.mark.parametrize("tier", ["stream", "eager"])
def test_it_runs_on_the_host_between_two_graphs(x: Any, tier: str) -> None:
    with own_stream() as stream:
        keyword: dict[str, Any] = {"stream": stream} if tier == "stream" else {"eager": True}
        g = eagle.Graph().add_node(node(x)).add_node(node(x, **keyword)).add_node(node(x)).build().launch()
        assert g.captures == 1
    assert x.to_numpy().tolist() == [8.0] * N
