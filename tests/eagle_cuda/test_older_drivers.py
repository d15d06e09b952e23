"""Drivers without conditional nodes, for CUDA 12.0 to 12.2: the host drives loops, says so, launches no step too many.

``--driver 12.2`` poses as one, in ``make test`` too, which runs the tests of loops, conditionals and captures so.
"""

from __future__ import annotations

from typing import Any

import cuda_frame
import kernels
import numpy as np
import pytest
from cuda.core import LaunchConfig
from cuda.core.graph import GraphDefinition
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE, CudaDevice
from cuda_emulator import Emulator
from cuda_interrupts import interrupted_while_waiting
from cuda_own import leaves_nothing

import eagle
import eagle_cuda
import hawk
from eagle.graph import Node, child, opaque
from eagle_cuda.driver import abilities
from hawk import Int32, Mutable, Scalar, Table, Terminated

NODES = {"cuGraphConditionalHandleCreate", "cuGraphAddNode", "cuStreamBeginCaptureToGraph"}


@hawk.kernel
def walk(i: Mutable[Int32], table: Table[Scalar], x: Mutable[Scalar], terminated: Terminated) -> None:  # type: ignore[type-arg]
    x += table[i]
    i += 1
    terminated = x >= 100.0


@pytest.fixture(autouse=True)
def old(emulator: Emulator) -> None:
    if abilities().conditional_nodes:
        pytest.skip("is about drivers without conditional nodes")


def reals(*values: float) -> DeviceArray:
    return DeviceArray(np.array(values, np.float64))


def counts(*values: int) -> DeviceArray:
    return DeviceArray(np.array(values, np.int32))


def adding(x: DeviceArray, name: str = "model") -> Node[Any]:
    return opaque(CudaDevice().shift(x, 1.0, x), reads={"x": x}, writes={"x": x}, name=name)


def counting(left: DeviceArray, x: DeviceArray, **more: Any) -> eagle.Runner:
    """A loop of two nodes, of which one adds 1 to every element of `x` in each step that is launched."""
    return eagle.until_done([adding(x), eagle.deploy(kernels.count_down, steps=1)], left=left, **more)


# what is reported -----------------------------------------------------------------------------------------------------


def test_a_loop_of_several_nodes_is_driven_by_the_host_and_its_report_says_so(device: Emulator) -> None:
    x = reals(0, 0, 0)
    report = counting(counts(1, 3, 2), x).run()
    assert (report.driven, report.status, report.steps) == ("host", "finished", 3)
    assert "'until done' is driven by the host" in report.notes
    assert f"the driver, for CUDA {device.driver}, has no conditional nodes, which came with 12.3" in report.notes
    assert x.to_numpy().tolist() == [3, 3, 3]
    assert not NODES & set(device.calls())


def test_a_single_finishing_kernel_is_one_launch_of_the_device_as_on_every_driver(device: Emulator) -> None:
    runner = eagle.until_done(eagle.deploy(kernels.count_down), left=counts(1, 300, 2))
    runner.run(max_steps=1)
    device.reset()
    report = runner.run(max_steps=1)
    assert (report.driven, report.notes, report.finished) == ("device", "", 2)
    assert device.calls()["cuGraphLaunch"] == 1
    assert runner.run().steps == 298


def test_the_schedule_and_the_notes_name_what_the_host_decides(device: Emulator) -> None:
    x, on = reals(0), counts(1)
    guard = eagle.SkipGuard.nonzero(on)
    g = eagle.Graph().add_node(adding(x)).add_node(eagle.skippable(adding(x), guard), name="maybe")
    g.add_group([eagle.repeat_while(adding(x), guard, 3), opaque(lambda: None)]).build()
    assert g.schedule == ("capture", "host_driven", "host_driven")
    assert [line.split("'")[1] for line in g.fusion().splitlines()] == ["maybe", "repeat_while"]
    g.launch()
    assert x.to_numpy()[0] == 1 + 1 + 3


# what is launched -----------------------------------------------------------------------------------------------------


def test_no_step_is_launched_beyond_the_last_one(device: Emulator) -> None:
    x, left = reals(0), counts(5)
    runner = counting(left, x, max_steps=3)
    for steps, launched in ((3, 3), (2, 5), (0, 5)):
        assert runner.run().steps == steps
        assert x.to_numpy()[0] == launched
    device.reset()
    assert runner.run().launches == 0
    assert "cuGraphLaunch" not in device.calls()


def test_a_limit_is_exact_in_a_conditional_in_a_loop_in_a_loop(device: Emulator) -> None:
    x, on = reals(0), counts(1)
    guard = eagle.SkipGuard.nonzero(on)
    inner = eagle.repeat_while(eagle.skippable(adding(x), guard), guard, 3)
    outer = eagle.repeat_while(inner, guard, 4)
    eagle.Graph().add_node(outer).add_node(adding(x)).build().launch(2)
    assert x.to_numpy()[0] == 2 * (3 * 4 + 1)
    assert (outer.iterations, outer.hit_limit, inner.iterations, inner.hit_limit) == (4, True, 3, True)


def test_a_child_steps_in_a_loop(device: Emulator) -> None:
    x = reals(0, 0)
    made = GraphDefinition()
    kernel = cuda_frame.compiled(SOURCE, "shift")
    made.launch(LaunchConfig(grid=1, block=2), kernel, x.address, np.int64(8), np.float64(1), x.address, np.int64(8))
    parts = [child(made, reads={"x": x}, writes={"x": x}), eagle.deploy(kernels.count_down, steps=1)]
    report = eagle.until_done(parts, left=counts(4, 2)).run()
    assert (report.driven, report.steps) == ("host", 4)
    assert x.to_numpy().tolist() == [4, 4]


def test_a_launch_beside_a_loop_is_bound_to_other_arrays_in_place(device: Emulator) -> None:
    x, on, out = reals(1, 2), counts(1), reals(0, 0)
    bound = eagle.deploy(kernels.scale).bind(x=x, factor=2.0, out=out)
    loop = eagle.repeat_while(adding(x), eagle.SkipGuard.nonzero(on), 2)
    g = eagle.Graph().add_node(adding(x)).add_node(loop).add(bound).build().launch()
    assert out.to_numpy().tolist() == [8, 10]
    device.reset()
    other = reals(0, 0)
    bound.rebind(out=other)
    g.launch()
    assert other.to_numpy().tolist() == [14, 16]
    assert device.calls()["cuGraphExecKernelNodeSetParams"] == 1
    assert "cuGraphInstantiate" not in device.calls()


# captures -------------------------------------------------------------------------------------------------------------


def test_code_is_captured_into_a_graph_of_its_own_and_waits_for_what_it_has_to(device: Emulator) -> None:
    x, y, z = reals(1, 2), reals(0, 0), reals(0, 0)
    on = CudaDevice()
    with leaves_nothing(device):
        g = eagle.Graph().add_node(opaque(on.scale(x, 3.0, y), reads={"x": x}, writes={"y": y}))
        g.add_node(eagle.copy(y, into=z)).add_node(opaque(on.scale(y, 0.0, x), reads={"y": y}, writes={"x": x}))
        g.add_node(opaque(lambda: None, reads={"x": x})).build().launch()
        assert (x.to_numpy().tolist(), z.to_numpy().tolist()) == ([0, 0], [3, 6])
        assert device.calls()["cuStreamBeginCapture"] == 3
        assert device.live()["graphs"] == 1
        del g


@pytest.mark.parametrize("where", ["alone", "in a conditional"])
def test_a_build_that_fails_leaves_nothing_and_the_next_one_works(device: Emulator, where: str) -> None:
    x, on = reals(0), counts(1)

    def bad() -> None:
        adding(x).payload.fn()
        raise ZeroDivisionError("of the user's own")

    guard = eagle.SkipGuard.nonzero(on)
    node = opaque(bad, reads={"x": x}, writes={"x": x}, name="bad")
    with leaves_nothing(device):
        g = eagle.Graph().add_node(adding(x)).add_node(eagle.repeat_while(adding(x), guard, 2))
        g.add_node(node if where == "alone" else eagle.skippable((adding(x), node), guard))
        g.add_node(eagle.skippable(adding(x), guard), name="behind")
        with pytest.raises(ZeroDivisionError) as caught:
            g.build()
        assert any("'bad'" in note for note in caught.value.__notes__)
        assert not any("'repeat_while'" in note or "'behind'" in note for note in caught.value.__notes__)
        del g, caught
    eagle.Graph().add_node(eagle.repeat_while(adding(x), guard, 2)).build().launch()
    assert x.to_numpy()[0] == 2


def test_a_graph_gives_everything_back(device: Emulator) -> None:
    x, on = reals(0), counts(1)
    adding(x)
    with leaves_nothing(device):
        guard = eagle.SkipGuard.nonzero(on)
        g = eagle.Graph().add_node(eagle.repeat_while((eagle.skippable(adding(x), guard), adding(x)), guard, 2))
        g.build().launch(3)
        assert x.to_numpy()[0] == 12
        del g


# failures -------------------------------------------------------------------------------------------------------------


def test_a_fault_ends_the_loop_with_its_step_and_run_goes_on_later(device: Emulator) -> None:
    x, i, seen = reals(0, 0), counts(0, 2), reals(0)
    table = reals(1, 1, 1, 1)
    parts = [adding(seen), eagle.deploy(walk, steps=1), eagle.deploy(kernels.bump, steps=1)]
    runner = eagle.until_done(parts, i=i, table=table, x=x)
    with pytest.raises(IndexError, match=r"index 4 .* for sample 1 of kernel 'walk'"):
        runner.run()
    assert seen.to_numpy()[0] == 3  # its steps: the third reads behind the table
    i.fill_from(np.array([0, 0], np.int32))
    with pytest.raises(IndexError, match="sample 0"):
        runner.run()
    assert seen.to_numpy()[0] == 3 + 5


def test_a_fault_ends_the_loops_around_it(device: Emulator) -> None:
    x, on = reals(0), counts(1)
    guard = eagle.SkipGuard.nonzero(on)
    bound = eagle.deploy(kernels.look_up).bind(i=DeviceArray(np.array([9])), table=reals(1), out=reals(0))
    inner = eagle.repeat_while((adding(x), bound), guard)
    outer = eagle.repeat_while((inner, adding(x)), guard)
    g = eagle.Graph().add_node(outer).build()
    with pytest.raises(IndexError):
        g.launch(3)
    assert (inner.iterations, outer.iterations) == (1, 1)
    assert x.to_numpy()[0] == 2


def test_the_host_queues_nothing_behind_a_fault_that_copies_could_not_see(device: Emulator) -> None:
    x, y = reals(1), reals(0)
    i = DeviceArray(np.array([9]))
    g = eagle.Graph().add_node(eagle.copy(x, into=y)).add_node(adding(x))
    g.add(eagle.deploy(kernels.look_up).bind(i=i, table=reals(1), out=reals(0))).build()
    g.enqueue(2)
    g.enqueue()
    with pytest.raises(IndexError):
        g.synchronize()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2, 1)
    i.fill_from(0)
    g.launch(2)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (4, 3)


def test_an_interrupt_stops_between_two_steps_and_run_goes_on_from_there(device: Emulator) -> None:
    x, left = reals(0), counts(2**30)
    runner = counting(left, x, steps_per_sample=True)
    with interrupted_while_waiting() as caught:
        runner.run()
    assert any("0 of 1 samples are finished" in note for note in caught.value.__notes__)
    assert any("stopped" in note for note in caught.value.__notes__)
    steps = int(np.asarray(runner.steps_taken)[0])
    assert steps > 0
    assert (x.to_numpy()[0], left.to_numpy()[0]) == (steps, 2**30 - steps)
    left.fill_from(np.array([2], np.int32))
    assert (runner.run().status, x.to_numpy()[0]) == ("finished", steps + 2)


def test_an_interrupt_lets_a_step_of_several_launches_end(device: Emulator) -> None:
    x, y, left, on = reals(0), reals(0), counts(2**30), counts(1)
    guard = eagle.SkipGuard.nonzero(on)
    parts = [adding(x), eagle.skippable(adding(y), guard), eagle.deploy(kernels.count_down, steps=1)]
    g = eagle.until_done(parts, left=left)
    with interrupted_while_waiting():
        g.run()
    steps = x.to_numpy()[0]
    assert steps > 0
    assert (y.to_numpy()[0], left.to_numpy()[0]) == (steps, 2**30 - steps)


def test_another_thread_that_runs_a_loop_is_let_through_its_waits(device: Emulator) -> None:
    from threading import Thread

    found: list[int] = []
    x = reals(0)
    runner = counting(counts(20), x)
    thread = Thread(target=lambda: found.append(runner.run().steps))
    thread.start()
    thread.join(60)
    assert found == [20]
    assert x.to_numpy()[0] == 20


# what cannot be -------------------------------------------------------------------------------------------------------


def test_the_host_runs_no_node_inside_a_conditional_as_on_every_driver(device: Emulator) -> None:
    x, on = reals(0), counts(1)
    node = opaque(lambda: None, reads={"x": x}, eager=True, name="log")
    g = eagle.Graph().add_node(eagle.skippable(node, eagle.SkipGuard.nonzero(on)))
    with pytest.raises(eagle.BuildError, match=r"'log'.*eager=True cannot stand inside a conditional"):
        g.build()


def test_the_arguments_of_a_captured_graph_are_not_told_and_that_is_said(device: Emulator) -> None:
    made, x = GraphDefinition(), reals(1)
    made.memset(x.address, 0, 8)
    with pytest.raises(eagle.BuildError, match=f"for CUDA {device.driver}, does not tell .* drivers for 12.4 do"):
        list(eagle_cuda.kernels_of(int(made.handle)))
