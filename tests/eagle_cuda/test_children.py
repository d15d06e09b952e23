"""Graphs captured elsewhere as one node: cuda.core's, and what any framework adopts."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import cuda_frame
import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, launch
from cuda.core.graph import GraphBuilder, GraphDefinition
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE, CudaDevice
from cuda_emulator import Emulator
from cuda_own import leaves_nothing

import eagle
from eagle.graph import child, opaque
from eagle.plugin import ForeignGraph, Framework, hookimpl
from eagle.testing import registered
from eagle_cuda.adopting import graph_version

DEVICE = CudaDevice()
N = 8
ONE = LaunchConfig(grid=1, block=N)


def shifting(x: DeviceArray, by: float) -> tuple[Any, ...]:
    """What launches ``x += by``."""
    kernel = cuda_frame.compiled(SOURCE, "shift")
    return kernel, x.address, np.int64(8), np.float64(by), x.address, np.int64(8)


def captured(x: DeviceArray, by: float = 1.0) -> GraphBuilder:
    """A graph that cuda.core captured: ``x += by``, twice."""
    kernel, *arguments = shifting(x, by)
    builder = Device().create_graph_builder().begin_building()
    for _ in range(2):
        launch(builder, ONE, kernel, *arguments)
    return builder.end_building()


def defined(x: DeviceArray, by: float = 1.0) -> GraphDefinition:
    """The same, written out."""
    kernel, *arguments = shifting(x, by)
    definition = GraphDefinition()
    definition.launch(ONE, kernel, *arguments).launch(ONE, kernel, *arguments)
    return definition


@pytest.fixture
def still(unordered: Emulator) -> DeviceArray:
    """An array for tests in which no order matters."""
    cuda_frame.compiled(SOURCE, "shift")
    return DeviceArray(np.ones(N))


@pytest.fixture
def x(device: Emulator) -> DeviceArray:
    cuda_frame.compiled(SOURCE, "shift")
    return DeviceArray(np.ones(N))


def over(x: DeviceArray, owner: object) -> eagle.Graph:
    return eagle.Graph().add_node(child(owner, reads={"x": x}, writes={"x": x}), name="model")


@pytest.mark.parametrize("make", [captured, defined])
def test_a_child_runs_in_its_place(x: DeviceArray, make: Callable[[DeviceArray], object]) -> None:
    y = DeviceArray(np.zeros(N))
    g = eagle.Graph()
    g.add_node(opaque(DEVICE.scale(x, 10.0, x), reads={"x": x}, writes={"x": x}), name="before")
    g.add_node(child(make(x), reads={"x": x}, writes={"x": x}), name="model")
    g.add_node(opaque(DEVICE.scale(x, 2.0, y), reads={"x": x}, writes={"y": y}), name="after")
    g.build().launch()
    assert (g.schedule, g.captures) == (("capture",) * 3, 1)
    assert y.to_numpy().tolist() == [24.0] * N
    g.launch(2)
    assert x.to_numpy().tolist() == [1222.0] * N
    assert "[child]" in str(g)


def test_one_graph_may_be_a_child_twice_and_in_branches(x: DeviceArray) -> None:
    y = DeviceArray(np.ones(N))
    owner = captured(x)
    g = over(x, owner).add_node(child(owner, reads={"x": x}, writes={"x": x}))
    g.add_group([child(owner, reads={"x": x}, writes={"x": x}), child(defined(y), writes={"y": y})])
    g.build().launch()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (7.0, 3.0)


@pytest.mark.parametrize("make", [captured, defined])
def test_a_child_may_stand_in_a_conditional_and_a_loop(x: DeviceArray, make: Callable[[DeviceArray], object]) -> None:
    flag = DeviceArray(np.ones(1, np.int32))
    g = eagle.Graph()
    guard = eagle.SkipGuard.nonzero(flag)
    g.add_node(eagle.skippable(child(make(x), writes={"x": x}), guard))
    g.add_node(eagle.repeat_while(child(make(x), writes={"x": x}), guard, 3))
    g.build().launch()
    assert x.to_numpy()[0] == 9.0
    flag.fill_from(0)
    g.launch()
    assert x.to_numpy()[0] == 9.0


def test_the_owner_lives_as_long_as_the_graph(still: DeviceArray) -> None:
    owner = captured(still)
    alive = weakref.ref(owner)
    g = over(still, owner).build()
    del owner
    gc.collect()
    g.launch()
    assert still.to_numpy()[0] == 3.0
    assert alive() is not None
    del g
    gc.collect()
    assert alive() is None


def test_an_owner_that_was_closed_is_refused_at_launch(still: DeviceArray) -> None:
    owner = captured(still)
    g = over(still, owner).build().launch()
    owner.close()
    with pytest.raises(eagle.BuildError, match="'model': the child graph was reset or captured again"):
        g.launch()
    assert still.to_numpy()[0] == 3.0


def test_a_definition_that_was_changed_is_refused_at_launch_and_can_be_built_again(still: DeviceArray) -> None:
    owner = defined(still)
    g = over(still, owner).build().launch()
    kernel, *arguments = shifting(still, 100.0)
    owner.launch(ONE, kernel, *arguments)
    with pytest.raises(eagle.BuildError, match="'model': the child graph was reset or captured again"):
        g.enqueue()
    over(still, defined(still)).build().launch()
    assert still.to_numpy()[0] == 5.0


# refused at build -----------------------------------------------------------------------------------------------------


def still_building(x: DeviceArray) -> Iterator[object]:
    builder = Device().create_graph_builder().begin_building()
    yield builder
    builder.end_building()


def closed(x: DeviceArray) -> Iterator[object]:
    builder = captured(x)
    builder.close()
    yield builder


def instantiated(x: DeviceArray) -> Iterator[object]:
    yield captured(x).complete()


def conditional(x: DeviceArray) -> Iterator[object]:
    definition = GraphDefinition()
    definition.if_then(definition.create_condition(default_value=1)).then.memset(x.address, 0, 8)
    yield definition


def allocating(x: DeviceArray) -> Iterator[object]:
    definition = GraphDefinition()
    memory = definition.allocate(64)
    memory.deallocate(memory.dptr)
    yield definition


def nested(x: DeviceArray) -> Iterator[object]:
    """A child of the child holds what is refused; the driver refuses it only when it is put in."""
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.callback(lambda: None)
    outer.embed(inner)
    yield outer


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (still_building, "still building.*end_building"),
        (closed, "was closed"),
        (instantiated, "instantiated cuda.core Graph.*GraphBuilder or the GraphDefinition"),
        (conditional, "the child graph holds a conditional.*stream="),
        (allocating, "the child graph allocates memory.*stream="),
    ],
)
def test_a_child_that_cannot_be_is_refused_by_name_and_nothing_is_left(
    still: DeviceArray, unordered: Emulator, make: Callable[[DeviceArray], Iterator[object]], says: str
) -> None:
    making = make(still)
    g = over(still, next(making))
    with leaves_nothing(unordered), pytest.raises(eagle.BuildError, match=f"'model': .*{says}"):
        g.build()
    next(making, None)
    over(still, captured(still)).build().launch()
    assert still.to_numpy()[0] == 3.0


def test_a_host_callback_in_a_child_may_stand_in_a_graph_and_not_in_a_body(still: DeviceArray) -> None:
    calls: list[int] = []
    owner = GraphDefinition()
    owner.callback(lambda: calls.append(1))
    over(still, owner).build().launch(2)
    assert len(calls) == 2
    flag = DeviceArray(np.ones(1, np.int32))
    g = eagle.Graph().add_node(
        eagle.skippable(child(owner, writes={"x": still}), eagle.SkipGuard.nonzero(flag)), name="maybe"
    )
    with pytest.raises(eagle.BuildError, match="calls the host"):
        g.build()


def test_what_a_childs_child_does_counts_too(still: DeviceArray) -> None:
    flag = DeviceArray(np.ones(1, np.int32))
    step = child(next(nested(still)), writes={"x": still})
    g = eagle.Graph().add_node(eagle.skippable(step, eagle.SkipGuard.nonzero(flag)), name="maybe")
    with pytest.raises(eagle.BuildError, match="calls the host"):
        g.build()


def test_a_child_nobody_adopts_is_refused(still: DeviceArray) -> None:
    with pytest.raises(eagle.BuildError, match="no installed plugin knows a child graph of a object"):
        over(still, object()).build()


# any framework's ------------------------------------------------------------------------------------------------------


class Recording:
    """A framework's graph, as torch has them: its handle stays, or is another's, once it is reset and captured anew."""

    def __init__(self, x: DeviceArray) -> None:
        self.x = x
        self.capture()

    def capture(self) -> None:
        self.made: Any = captured(self.x)
        self.handle = int(self.made.graph_definition.handle)

    def reset(self) -> None:
        self.made = None
        self.handle = 0


class HostReplay:
    """A framework's graph that only the host can replay."""


def adopt(owner: object) -> ForeignGraph | None:
    if isinstance(owner, HostReplay):
        return ForeignGraph(backend="gpu", graph=lambda: None, version=lambda: 0, keep=owner)
    if not isinstance(owner, Recording):
        return None
    return ForeignGraph(
        backend="gpu",
        graph=owner.handle,
        version=lambda: owner.handle and graph_version(owner.handle),
        keep=owner,
    )


@hookimpl
def register_framework() -> Framework:
    return Framework(name="recorder", needs="numpy", adopt=adopt)


RECORDER: Any = SimpleNamespace(__name__="recorder.hooks", EAGLE_CONTRACT=(1, 0), register_framework=register_framework)


def test_a_frameworks_graph_that_was_reset_or_captured_again_is_refused(still: DeviceArray) -> None:
    owner = Recording(still)
    with registered(RECORDER):
        g = over(still, owner).build().launch()
        assert still.to_numpy()[0] == 3.0
        owner.reset()
        gc.collect()
        with pytest.raises(eagle.BuildError, match="'model': the child graph was reset or captured again"):
            g.launch()
        over(still, Recording(still)).build().launch()
        assert still.to_numpy()[0] == 5.0


def test_a_graph_that_only_the_host_can_replay_is_refused(still: DeviceArray) -> None:
    with registered(RECORDER), pytest.raises(eagle.BuildError, match=r"'model': .*a callable.*eager=True"):
        over(still, HostReplay()).build()


def test_the_version_of_a_graph_is_that_of_its_nodes(still: DeviceArray) -> None:
    owner = defined(still)
    handle = int(owner.handle)
    first = graph_version(handle)
    assert graph_version(handle) == first
    owner.empty()
    assert graph_version(handle) != first
