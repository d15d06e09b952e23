"""The three tiers of opaque nodes: captured, on a stream of the user's, and on the host with the device waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda_frame
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice
from cuda_emulator import Emulator
from cuda_own import done, own_stream

import eagle
from eagle.errors import GraphTypeError
from eagle.graph import opaque

DEVICE = CudaDevice()
N = 16


def arrays(count: int) -> list[DeviceArray]:
    return [DeviceArray(np.ones(N)) for _ in range(count)]


class Foreign:
    """Somebody's stream object."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


@pytest.mark.parametrize("given", [int, Foreign])
def test_a_stream_node_is_between_the_stage_before_and_the_stage_after(
    device: Emulator, given: Callable[[int], object]
) -> None:
    x, y, z = arrays(3)
    calls: list[int] = []
    work = DEVICE.shift(y, 1.0, y)

    def on_mine() -> None:
        calls.append(cuda_frame.current())
        work()

    with own_stream() as stream:
        g = eagle.Graph()
        g.add_node(opaque(DEVICE.scale(x, 2.0, y), reads={"x": x}, writes={"y": y}), name="before")
        g.add_node(opaque(on_mine, reads={"y": y}, writes={"y": y}, stream=given(stream)), name="mine")
        g.add_node(opaque(DEVICE.scale(y, 10.0, z), reads={"y": y}, writes={"z": z}), name="after")
        g.build()
        assert g.schedule == ("capture", "eager_stream", "capture")
        assert (g.captures, g.graph_builds) == (1, 1)
        assert calls == []
        g.launch(2)
        assert calls == [stream, stream]
        assert z.to_numpy().tolist() == [30.0] * N
    assert "[stream]" in str(g)


def test_the_host_waits_for_no_stream_node(device: Emulator) -> None:
    (x,) = arrays(1)
    work = DEVICE.shift(x, 1.0, x)
    with own_stream() as stream, own_stream() as mine, cuda_frame.use(mine):
        g = eagle.Graph().add_node(opaque(work, reads={"x": x}, writes={"x": x}, stream=stream)).build()
        g.enqueue(2)
        device.pending()  # a device that runs at once cannot show this
        assert not done(stream)
        g.synchronize()
        assert done(stream)
    assert x.to_numpy()[0] == 3.0


def test_an_eager_node_sees_everything_done_and_may_read_back(device: Emulator) -> None:
    x, y = arrays(2)
    seen: list[float] = []

    def read_back() -> None:
        seen.append(float(x.to_numpy()[0]))
        x.fill_from(x.to_numpy() + 1)

    g = eagle.Graph()
    g.add_node(opaque(DEVICE.scale(x, 2.0, x), reads={"x": x}, writes={"x": x}))
    g.add_node(opaque(read_back, reads={"x": x}, writes={"x": x}, eager=True))
    g.add_node(opaque(DEVICE.shift(x, 0.0, y), reads={"x": x}, writes={"y": y}))
    g.build().launch(2)
    assert g.schedule == ("capture", "eager_host", "capture")
    assert seen == [2.0, 6.0]
    assert y.to_numpy()[0] == 7.0


def test_work_an_eager_node_leaves_on_any_stream_is_done_before_the_next_stage(device: Emulator) -> None:
    x, y = arrays(2)
    work = DEVICE.fill(x, 5.0)
    with own_stream() as stream:

        def elsewhere() -> None:
            with cuda_frame.use(stream):
                work()

        g = eagle.Graph().add_node(opaque(elsewhere, writes={"x": x}, eager=True))
        g.add_node(opaque(DEVICE.scale(x, 2.0, y), reads={"x": x}, writes={"y": y})).build().launch()
        assert y.to_numpy()[0] == 10.0


def test_a_graph_of_host_tiers_alone_captures_nothing(unordered: Emulator) -> None:
    (x,) = arrays(1)
    g = eagle.Graph().add_node(opaque(DEVICE.fill(x, 4.0), writes={"x": x}, eager=True)).build().launch()
    assert (g.schedule, g.captures, g.graph_builds) == (("eager_host",), 0, 0)
    assert x.to_numpy()[0] == 4.0


@pytest.mark.parametrize("tier", [{"stream": 0}, {"eager": True}])
def test_what_a_host_tier_raises_leaves_the_launch_unchanged_and_the_graph_usable(
    device: Emulator, tier: dict[str, Any]
) -> None:
    x, y = arrays(2)
    fail = [True]

    def step() -> None:
        if fail:
            raise KeyError("here")

    g = eagle.Graph()
    g.add_node(opaque(DEVICE.scale(x, 2.0, x), reads={"x": x}, writes={"x": x}), name="before")
    g.add_node(opaque(step, reads={"x": x}, writes={"x": x}, **tier), name="mine")
    g.add_node(opaque(DEVICE.shift(x, 0.0, y), reads={"x": x}, writes={"y": y}), name="after")
    g.build()
    with pytest.raises(KeyError, match="here") as caught:
        g.launch(2)
    assert "in node 'mine' (kind 'opaque'), stage 1" in caught.value.__notes__[0]
    assert "repetition 1" in caught.value.__notes__[0]
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2.0, 1.0)
    fail.clear()
    g.launch()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (4.0, 4.0)


@pytest.mark.parametrize("tier", [{"stream": 0}, {"eager": True}])
@pytest.mark.parametrize("place", ["group", "conditional", "loop"])
def test_a_host_tier_inside_another_node_is_refused_by_name(
    unordered: Emulator, nothing_left: None, tier: dict[str, Any], place: str
) -> None:
    x, y = arrays(2)
    flag = DeviceArray(np.ones(1, np.int32))
    mine = opaque(DEVICE.fill(x, 1.0), writes={"x": x}, name="mine", **tier)
    g = eagle.Graph()
    if place == "group":
        g.add_group([mine, opaque(DEVICE.fill(y, 1.0), writes={"y": y})])
    elif place == "conditional":
        g.add_node(eagle.skippable(mine, eagle.SkipGuard.nonzero(flag)))
    else:
        g.add_node(eagle.repeat_while(mine, eagle.SkipGuard.nonzero(flag), 3))
    word = "stream=" if "stream" in tier else "eager=True"
    with pytest.raises(eagle.BuildError, match=f"'mine'.*a node with {word} cannot stand"):
        g.build()


@pytest.mark.parametrize(("stream", "error"), [("7", GraphTypeError), (True, GraphTypeError), (-1, eagle.GraphError)])
def test_what_is_no_stream_is_refused_at_the_build(
    unordered: Emulator, nothing_left: None, stream: Any, error: type[Exception]
) -> None:
    (x,) = arrays(1)
    g = eagle.Graph().add_node(opaque(DEVICE.fill(x, 1.0), writes={"x": x}, stream=stream), name="mine")
    with pytest.raises(error, match=r"stream.* is "):
        g.build()
