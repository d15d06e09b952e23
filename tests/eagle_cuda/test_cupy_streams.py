"""CuPy's streams, as eagle asks them: CuPy itself on a real device, on the emulated one what has its names."""

from __future__ import annotations

from typing import Any

import pytest
from cuda_own import own_stream

import eagle
from eagle.graph import opaque
from eagle.plugin import stream_handle, streams


def test_only_cupys_streams_are_its_own(cupy: Any) -> None:
    mine, theirs = cupy.cuda.Stream(non_blocking=True), object()
    known = streams()["cupy"]
    assert known.handle(mine) == stream_handle(mine) == mine.ptr
    assert known.handle(theirs) is None
    with own_stream() as other:
        assert known.handle(other) is None
        assert stream_handle(cupy.cuda.ExternalStream(other)) == other


def test_the_current_stream_is_the_innermost_and_put_back(cupy: Any) -> None:
    known = streams()["cupy"]
    device = ("cuda", 0)
    assert known.current(device) == 0
    assert known.current(("opencl", 0)) is None
    with cupy.cuda.Stream(non_blocking=True) as mine, own_stream() as other:
        assert known.current(device) == mine.ptr
        with known.use(device, other):
            assert known.current(device) == other
        assert known.current(device) == mine.ptr
    assert known.current(device) == 0


def test_a_step_on_a_stream_of_cupys_is_between_its_neighbours(seed: int, cupy: Any) -> None:
    x, y = cupy.arange(8.0), cupy.zeros(8)
    mine = cupy.cuda.Stream(non_blocking=True)
    g = eagle.Graph()
    g.add_node(opaque(lambda: cupy.multiply(x, 2.0, out=x), reads={"x": x}, writes={"x": x}))
    g.add_node(opaque(lambda: cupy.add(x, 1.0, out=x), reads={"x": x}, writes={"x": x}, stream=mine))
    g.add_node(opaque(lambda: cupy.add(x, 0.0, out=y), reads={"x": x}, writes={"y": y}))
    cupy.multiply(x, 1.0, out=x), cupy.add(y, 0.0, out=y)
    g.build().launch(2)
    assert g.schedule == ("capture", "eager_stream", "capture")
    assert y.get().tolist() == [4.0 * i + 3.0 for i in range(8)]


@pytest.mark.parametrize("name", ["graph", "pipeline"])
def test_what_is_captured_on_the_legacy_stream_of_cupy_is_refused(cupy: Any, name: str) -> None:
    x = cupy.arange(8.0)
    cupy.multiply(x, 1.0, out=x)

    def on_null() -> None:
        with cupy.cuda.ExternalStream(0):
            cupy.multiply(x, 2.0, out=x)

    graph = eagle.Graph().add_node(opaque(on_null, reads={"x": x}, writes={"x": x}))
    made = graph if name == "graph" else eagle.GraphPipeline().add(on_null)
    with pytest.raises(eagle.BuildError, match="legacy default stream"):
        made.build()
