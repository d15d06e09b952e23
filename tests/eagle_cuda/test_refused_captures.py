"""What captured code may not do ends as an error that names the node and the tier for it, and leaves nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda_frame
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice
from cuda_emulator import Emulator
from cuda_own import call, leaves_nothing, own_stream

import eagle
from eagle.graph import opaque

DEVICE = CudaDevice()
N = 8
Node = Callable[[Callable[[], object], DeviceArray], eagle.Graph]


def alone(fn: Callable[[], object], x: DeviceArray) -> eagle.Graph:
    return eagle.Graph().add_node(opaque(fn, reads={"x": x}, writes={"x": x}), name="bad")


def in_a_group(fn: Callable[[], object], x: DeviceArray) -> eagle.Graph:
    y = DeviceArray(np.ones(N))
    other = opaque(DEVICE.scale(y, 2.0, y), reads={"y": y}, writes={"y": y})
    return eagle.Graph().add_group([other, opaque(fn, reads={"x": x}, writes={"x": x})], names=["good", "bad"])


def in_a_conditional(fn: Callable[[], object], x: DeviceArray) -> eagle.Graph:
    guard = eagle.SkipGuard.nonzero(DeviceArray(np.ones(1, np.int32)))
    return eagle.Graph().add_node(
        eagle.skippable(opaque(fn, reads={"x": x}, writes={"x": x}, name="bad"), guard), name="maybe"
    )


def in_a_loop_in_a_conditional(fn: Callable[[], object], x: DeviceArray) -> eagle.Graph:
    guard = eagle.SkipGuard.nonzero(DeviceArray(np.ones(1, np.int32)))
    loop = eagle.repeat_while(opaque(fn, reads={"x": x}, writes={"x": x}, name="bad"), guard, 2)
    return eagle.Graph().add_node(eagle.skippable(loop, guard), name="maybe")


PLACES = [alone, in_a_group, in_a_conditional, in_a_loop_in_a_conditional]


def allocates(x: DeviceArray) -> None:
    x.kept = DeviceArray.empty(4)  # type: ignore[attr-defined]


def waits_for_the_stream(x: DeviceArray) -> None:
    call("cuStreamSynchronize", cuda_frame.current())


def waits_for_the_device(x: DeviceArray) -> None:
    call("cuCtxSynchronize")


def reads_back(x: DeviceArray) -> None:
    x.to_numpy()


def asks_the_stream(x: DeviceArray) -> None:
    call("cuStreamQuery", cuda_frame.current())


def uses_the_legacy_stream(x: DeviceArray) -> None:
    with cuda_frame.use(cuda_frame.LEGACY):
        DEVICE.scale(x, 2.0, x)()


ILLEGAL = [
    allocates,
    waits_for_the_stream,
    waits_for_the_device,
    reads_back,
    asks_the_stream,
    uses_the_legacy_stream,
]


@pytest.fixture
def x(unordered: Emulator) -> DeviceArray:
    for name in ("scale", "shift"):
        getattr(DEVICE, name)(DeviceArray(np.ones(N)), 1.0, DeviceArray(np.ones(N)))
    return DeviceArray(np.ones(N))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("illegal", ILLEGAL)
def test_illegal_work_is_refused_and_leaves_nothing(
    x: DeviceArray, unordered: Emulator, illegal: Callable[[DeviceArray], object], place: Node
) -> None:
    double = DEVICE.scale(x, 2.0, x)

    def bad() -> None:
        double()
        illegal(x)
        double()

    g = place(bad, x)
    with leaves_nothing(unordered), pytest.raises(eagle.BuildError) as caught:
        g.build()
    text = str(caught.value) + "".join(caught.value.__notes__)
    assert "'bad'" in text
    if "conditional" not in place.__name__:
        assert "eager=True" in text
        assert "stream=" in text
    assert g.backend is None
    assert alone(double, x).build().launch().captures == 1
    assert x.to_numpy()[0] == 2.0


@pytest.mark.parametrize("place", PLACES)
def test_an_exception_in_captured_code_is_unchanged_and_leaves_nothing(
    x: DeviceArray, unordered: Emulator, place: Node
) -> None:
    double = DEVICE.scale(x, 2.0, x)

    def bad() -> None:
        double()
        raise KeyError("mine")

    g = place(bad, x)
    with leaves_nothing(unordered), pytest.raises(KeyError, match="mine") as caught:
        g.build()
    assert caught.type is KeyError
    assert "'bad'" in "".join(caught.value.__notes__)
    alone(double, x).build().launch()
    assert x.to_numpy()[0] == 2.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_captured_code_leaves_nothing(
    x: DeviceArray, unordered: Emulator, error: type[BaseException]
) -> None:
    double = DEVICE.scale(x, 2.0, x)

    def bad() -> None:
        double()
        raise error

    g = alone(bad, x)
    with leaves_nothing(unordered), pytest.raises(error):
        g.build()
    alone(double, x).build().launch()
    assert x.to_numpy()[0] == 2.0


@pytest.mark.parametrize("place", PLACES)
def test_code_that_swallows_the_drivers_refusal_is_refused_all_the_same(
    x: DeviceArray, unordered: Emulator, place: Node
) -> None:
    double = DEVICE.scale(x, 2.0, x)

    def bad() -> None:
        double()
        try:
            x.to_numpy()
        except Exception:
            double()

    g = place(bad, x)
    with leaves_nothing(unordered), pytest.raises(eagle.BuildError, match="'bad'"):
        g.build()
    alone(double, x).build().launch()
    assert x.to_numpy()[0] == 2.0


def test_joining_work_of_a_stream_that_is_not_captured_is_refused(x: DeviceArray, unordered: Emulator) -> None:
    double = DEVICE.scale(x, 2.0, x)
    with own_stream() as other:
        event = call("cuEventCreate", 2)
        call("cuEventRecord", event, other)

        def bad() -> None:
            double()
            call("cuStreamWaitEvent", cuda_frame.current(), event, 0)
            double()

        g = alone(bad, x)
        with leaves_nothing(unordered), pytest.raises(eagle.BuildError, match="'bad'"):
            g.build()
        call("cuEventDestroy", event)
    alone(double, x).build().launch()


def fork(x: DeviceArray, y: DeviceArray, *, join: bool) -> tuple[Callable[[], None], Callable[[], None]]:
    """Code that sends ``y *= 2`` to a stream of its own, and what ends that stream."""
    stream, event, back = call("cuStreamCreate", 1), call("cuEventCreate", 2), call("cuEventCreate", 2)
    left, right = DEVICE.scale(x, 2.0, x), DEVICE.scale(y, 2.0, y)

    def code() -> None:
        call("cuEventRecord", event, cuda_frame.current())
        call("cuStreamWaitEvent", stream, event, 0)
        with cuda_frame.use(int(stream)):
            right()
        left()
        if join:
            call("cuEventRecord", back, stream)
            call("cuStreamWaitEvent", cuda_frame.current(), back, 0)

    def end() -> None:
        call("cuStreamDestroy", stream)
        call("cuEventDestroy", event)
        call("cuEventDestroy", back)

    return code, end


def test_a_fork_that_is_joined_is_captured_with_both_ends(device: Emulator) -> None:
    x, y, z = DeviceArray(np.ones(N)), DeviceArray(np.ones(N)), DeviceArray(np.zeros(N))
    code, end = fork(x, y, join=True)
    g = eagle.Graph()
    g.add_node(opaque(code, reads={"x": x, "y": y}, writes={"x": x, "y": y}))
    g.add_node(opaque(DEVICE.add(x, y, z), reads={"x": x, "y": y}, writes={"z": z}))
    g.build().launch(2)
    end()
    assert z.to_numpy().tolist() == [8.0] * N


@pytest.mark.parametrize("place", PLACES)
def test_a_fork_that_is_not_joined_is_refused_and_leaves_nothing(
    x: DeviceArray, unordered: Emulator, place: Node
) -> None:
    code, end = fork(x, DeviceArray(np.ones(N)), join=False)
    g = place(code, x)
    with leaves_nothing(unordered), pytest.raises(eagle.BuildError, match=r"'bad'.*did not join"):
        g.build()
    end()
    alone(DEVICE.scale(x, 2.0, x), x).build().launch()
    assert x.to_numpy()[0] == 2.0


def test_what_is_refused_names_every_tier_that_allows_it(x: DeviceArray) -> None:
    seen: list[Any] = []
    g = eagle.Graph().add_node(opaque(lambda: seen.append(x.to_numpy()), reads={"x": x}, eager=True)).build().launch()
    assert g.schedule == ("eager_host",)
    assert seen[0].tolist() == [1.0] * N
