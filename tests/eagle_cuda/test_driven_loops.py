"""Conditionals and loops that the host drives, as the driver has no conditional nodes: they run, and say so."""

from __future__ import annotations

from typing import Any

import kernels
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_devices import CudaDevice as Cuda

import eagle
from eagle.graph import opaque

WHY = "the driver, for CUDA 12.2, has no conditional nodes, which came with 12.3"


@pytest.fixture(autouse=True)
def _old(cuda: Cuda) -> None:
    if cuda.has_conditionals:
        pytest.skip("this driver has conditional nodes; --driver 12.2 has none")


def bump(cuda: Cuda, x: Any) -> Any:
    return opaque(cuda.shift(x, 1.0, x), reads={"x": x}, writes={"x": x})


def test_a_report_says_that_the_host_drove_the_loop(cuda: Cuda) -> None:
    x, left = cuda.array([0.0, 0.0]), cuda.array([1, 3], np.int32)
    runner = eagle.until_done([bump(cuda, x), eagle.deploy(kernels.count_down, steps=1)], left=left)
    report = runner.run()
    assert (report.done, report.steps, report.native_launches) == (True, 3, 1)
    (note,) = report.notes
    assert "'until done' runs on the host at every launch" in note
    assert WHY in note
    assert runner.run().launches == 0


def test_a_loop_of_one_plan_is_one_kernel_with_every_driver(cuda: Cuda) -> None:
    runner = eagle.until_done(eagle.deploy(kernels.count_down), left=cuda.array([1, 3], np.int32))
    report = runner.run()
    assert (report.done, report.steps, report.notes) == (True, 3, ())


def test_a_graph_is_cut_where_the_host_drives(cuda: Cuda) -> None:
    x, on = cuda.array([0.0]), cuda.array([1], np.int32)
    loop = eagle.repeat_while(bump(cuda, x), eagle.SkipGuard.nonzero(on), 3)
    g = eagle.Graph().add_node(bump(cuda, x)).add_node(loop, name="loop").add_node(bump(cuda, x)).build()
    assert (g.schedule, g.captures) == (("capture", "eager_host", "capture"), 1)
    assert "'loop'" in g.fusion()
    assert WHY in g.fusion()
    g.launch(2)
    assert x.to_numpy()[0] == 10
    assert (loop.iterations, loop.hit_limit) == (3, True)


def test_loops_nest_with_work_before_and_behind(cuda: Cuda) -> None:
    x, y, on = cuda.array([0.0]), cuda.array([0.0]), cuda.array([1], np.int32)
    guard = eagle.SkipGuard.nonzero(on)
    inner = eagle.repeat_while(bump(cuda, x), guard, 3)
    maybe = eagle.skippable(bump(cuda, y), eagle.SkipGuard.nonzero(on, 0))
    never = eagle.skippable(bump(cuda, y), eagle.SkipGuard(on, 0, negate=True))
    outer = eagle.repeat_while((bump(cuda, y), inner, maybe, never, bump(cuda, x)), guard, 2)
    eagle.Graph().add_node(outer).build().launch()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2 * (3 + 1), 2 * (1 + 1))
    assert (outer.iterations, inner.iterations) == (2, 3)


def test_a_fault_in_an_inner_loop_ends_the_loops_around_it_and_what_is_queued(cuda: Cuda) -> None:
    i, table, out = cuda.array([0, 5], np.int64), cuda.array([1.0, 2.0]), cuda.array([0.0, 0.0])
    y, on = cuda.array([0.0]), cuda.array([1], np.int32)
    look = eagle.deploy(kernels.look_up).bind(i=i, table=table, out=out)
    guard = eagle.SkipGuard.nonzero(on)
    inner = eagle.repeat_while(look, guard, 4)
    outer = eagle.repeat_while((bump(cuda, y), inner), guard, 4)
    g = eagle.Graph().add_node(outer).build()
    with pytest.raises(IndexError, match="sample 1"):
        g.launch(3)
    assert (outer.iterations, inner.iterations, y.to_numpy()[0]) == (1, 1, 1)
    i.fill_from(0)
    g.launch()
    assert (outer.iterations, inner.iterations, y.to_numpy()[0]) == (4, 4, 5)


def test_what_the_host_runs_is_refused_in_a_body_as_with_newer_drivers(cuda: Cuda) -> None:
    x, on = cuda.array([0.0]), cuda.array([1], np.int32)
    eager = opaque(lambda: None, reads={"x": x}, eager=True)
    with pytest.raises(eagle.BuildError, match="inside a conditional or a loop"):
        eagle.Graph().add_node(eagle.repeat_while(eager, eagle.SkipGuard.nonzero(on), 2)).build()


def test_captured_code_waits_for_exactly_what_it_must(cuda: Cuda, seed: int) -> None:
    x, y = cuda.array([1.0]), cuda.array([0.0])
    g = eagle.Graph()
    g.add_node(bump(cuda, x)).add_node(opaque(cuda.scale(x, 3.0, y), reads={"x": x}, writes={"y": y}))
    g.add_node(bump(cuda, x)).build().launch(2)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (5, 12)


def test_copies_of_a_graph_that_can_fault_need_no_conditional_either(cuda: Cuda) -> None:
    x, y = cuda.array([1.0, 2.0]), cuda.array([0.0, 0.0])
    i, table, out = cuda.array([0, 1], np.int64), cuda.array([1.0, 2.0]), DeviceArray(np.zeros(2))
    g = eagle.Graph().add_node(eagle.copy(x, into=y))
    g.add(eagle.deploy(kernels.look_up).bind(i=i, table=table, out=out)).build().launch(2)
    assert y.to_numpy().tolist() == [1, 2]
    assert out.to_numpy().tolist() == [1, 2]
