"""Plans and loops under misuse: arrays that change once bound, callers in each other's way, failed samples."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import kernels
import numpy as np
import pytest

import eagle
import hawk
from eagle.graph import opaque
from hawk import Index, Mutable, Scalar, Table, Terminated


@hawk.kernel
def follow(x: Scalar, y: Mutable[Scalar], terminated: Terminated):
    y = x + 1.0
    terminated = y > 9.5


@hawk.kernel
def look(i: Index, table: Table[Scalar], x: Mutable[Scalar], terminated: Terminated):  # type: ignore[type-arg]
    x += table[i]
    terminated = x > 100.0


@hawk.kernel
def stepped(step: Scalar, x: Mutable[Scalar], terminated: Terminated):
    x += step
    terminated = x > 1.0


@hawk.kernel
def shown(progress: Scalar, x: Mutable[Scalar], terminated: Terminated):
    x += progress
    terminated = x > 1.0


# arrays that change after they were bound -----------------------------------------------------------------------------


@pytest.mark.host_only("resizes an array of NumPy's")
@pytest.mark.parametrize("use", ["launch", "graph"])
@pytest.mark.parametrize("shape", [(10,), (3_000_000,)])
def test_an_array_resized_between_bind_and_build_is_refused(use: str, shape: tuple[int, ...]) -> None:
    x = np.zeros(2_000_000)
    bound = eagle.deploy(kernels.bump).bind(x=x)
    x.resize(shape, refcheck=False)
    with pytest.raises(eagle.PlaneError, match=r"plane 'x': it does not fit the 2000000 samples that kernel 'bump'"):
        bound.launch() if use == "launch" else eagle.Graph().add(bound)


@pytest.mark.host_only("resizes an array of NumPy's")
def test_rows_lost_between_bind_and_build_are_refused() -> None:
    v = np.zeros((3, 1000))
    bound = eagle.deploy(kernels.length).bind(v=v, out=np.zeros(1000))
    v.resize((1, 1000), refcheck=False)
    with pytest.raises(eagle.PlaneError, match=r"plane 'v'.*float64\[3, 1000\]"):
        bound.launch()


@pytest.mark.host_only("resizes an array of NumPy's")
def test_an_array_resized_between_runs_of_another_limit_is_refused() -> None:
    x, rate = np.full(100, 1e6), np.full(100, 0.9)
    runner = eagle.until_done(eagle.deploy(kernels.decay), x=x, rate=rate)
    runner.run(1)
    x.resize(50, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="plane 'x'"):
        runner.run()


@pytest.mark.host_only("passes masks of NumPy's that cannot be written or are strided")
def test_a_mask_of_another_length_is_refused() -> None:
    node = opaque(lambda: None)
    for mask in (np.zeros(5, bool), np.zeros(20, bool)[::2], np.zeros(10, np.uint8)):
        with pytest.raises(eagle.PlaneError):
            eagle.until_done([eagle.deploy(kernels.bump, steps=1), node], x=np.zeros(10), terminated=mask).run(2)
    frozen = np.zeros(10, bool)
    frozen.flags.writeable = False
    with pytest.raises(eagle.PlaneError, match="can be written"):
        eagle.until_done([eagle.deploy(kernels.bump, steps=1), node], x=np.zeros(10), terminated=frozen)


def test_plans_of_different_lengths_are_refused(device: Any) -> None:
    parts = [eagle.deploy(kernels.count_down, steps=1), eagle.deploy(kernels.bump, steps=1)]
    with pytest.raises(eagle.PlaneError, match="kernel 'count_down' has 3 samples and kernel 'bump' has 5"):
        eagle.until_done(parts, left=device.array(np.ones(3), np.int32), x=device.array(np.zeros(5)))


@pytest.mark.host_only("the protocol is that of host arrays")
def test_a_mask_that_moved_behind_its_protocol_is_noticed() -> None:
    class Held:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        @property
        def __array_interface__(self) -> dict[str, Any]:
            return self.array.__array_interface__

    mask = Held(np.zeros(10, bool))
    runner = eagle.until_done(eagle.deploy(kernels.count_down), left=np.full(10, 5, np.int32), terminated=mask)
    runner.run(1)
    mask.array = np.zeros(10, bool)
    with pytest.raises(eagle.PlaneError, match="plane 'terminated'"):
        runner.run(1)


@pytest.mark.host_only("resizes an array of NumPy's")
def test_a_copied_array_that_was_resized_is_refused() -> None:
    x = np.zeros((4, 3))
    with pytest.warns(eagle.CopyWarning):
        bound = eagle.deploy(kernels.length).bind(v=x, out=np.zeros(4))
    x.resize((2, 3), refcheck=False)
    with pytest.raises(eagle.PlaneError, match="resized since kernel 'length'"):
        bound.launch()


# aliasing -------------------------------------------------------------------------------------------------------------


def test_a_plane_that_is_read_and_written_is_seen_changing_in_a_loop(device: Any) -> None:
    y = device.array(np.zeros(5))
    report = eagle.until_done(eagle.deploy(follow), x=y, y=y, max_steps=100, steps_per_sample=True).run()
    assert (report.status, report.steps) == ("finished", 10)
    assert (device.to_numpy(y) == 10).all()


@pytest.mark.host_only("only arrays of NumPy's are copied")
def test_copied_planes_that_are_one_array_stay_one() -> None:
    v = np.zeros(20)[::2]
    with pytest.warns(eagle.CopyWarning):
        eagle.deploy(kernels.scale).bind(x=v, factor=2.0, out=v).launch()
    v[:] = 1
    with pytest.warns(eagle.CopyWarning):
        eagle.deploy(kernels.scale).bind(x=v, factor=2.0, out=v).launch(3)
    assert (v == 8).all()


# callers in each other's way ------------------------------------------------------------------------------------------


@pytest.mark.host_only("a callable of its step waits on the host")
def test_a_runner_lets_in_one_caller_whatever_the_limit() -> None:
    inside, done = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert done.wait(30)

    parts = [opaque(wait), eagle.deploy(kernels.count_down, steps=1)]
    runner = eagle.until_done(parts, left=np.full(3, 2, np.int32))
    thread = threading.Thread(target=lambda: runner.run(1))
    thread.start()
    assert inside.wait(30)
    calls: list[Callable[[], object]] = [runner.run, lambda: runner.run(7), runner.reset]
    for call in calls:
        with pytest.raises(eagle.Busy, match="on this Runner"):
            call()
    done.set()
    thread.join()
    assert runner.run().done


@pytest.mark.host_only("a callable of its graph runs on the host")
def test_a_runner_and_a_graph_in_a_cycle_are_collected() -> None:
    runner = eagle.until_done(eagle.deploy(kernels.count_down), left=np.full(3, 2, np.int32))
    runner.run()

    class Simulation:
        def __init__(self) -> None:
            self.graph = eagle.Graph().add_node(opaque(self.step)).build()

        def step(self) -> None:
            """The graph holds this method, which holds the graph."""

    alive: list[Any] = [weakref.ref(runner.planes["left"]), weakref.ref(Simulation())]
    del runner
    gc.collect()
    assert [one() for one in alive] == [None, None]


# failed samples and faults --------------------------------------------------------------------------------------------


def test_a_failed_sample_is_not_run_again_after_a_fault(device: Any) -> None:
    x = device.array([1.0, np.nan, 1.0])
    i, table = device.array([0, 0, 9], np.int64), device.array(np.ones(4))
    runner = eagle.until_done(
        eagle.deploy(look), i=i, table=table, x=x, stop_on_nonfinite=True, steps_per_sample=True, max_steps=500
    )
    with pytest.raises(IndexError, match="index 9"):
        runner.run()
    device.write(i, 0)
    assert runner.run().done
    assert list(np.flatnonzero(device.to_numpy(runner.failed))) == [1]
    assert device.to_numpy(runner.steps_taken).tolist() == [100, 1, 100]


def test_samples_that_were_finished_before_do_not_fail(device: Any) -> None:
    x, mask = device.array([1.0, np.inf, 1.0]), device.array([False, True, False], bool)
    result = eagle.simulate(
        [kernels.bump, kernels.count_down],
        x=x,
        left=device.array(np.full(3, 2), np.int32),
        terminated=mask,
        stop_on_nonfinite=True,
    )
    assert (result.report.finished, result.report.failed) == (3, 0)


def test_a_lone_plan_without_a_mask_takes_one_that_is_passed(device: Any) -> None:
    x, mask = device.array(np.zeros(3)), device.array([False, True, False], bool)
    runner = eagle.until_done(eagle.deploy(kernels.bump), x=x, terminated=mask, max_steps=5)
    assert runner.run().steps == 5
    assert device.to_numpy(x).tolist() == [5, 0, 5]


# names and numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.host_only("numbers become arrays of the host")
def test_a_plane_may_be_called_step_and_not_like_a_keyword() -> None:
    assert eagle.simulate(stepped, step=0.5, x=0.0).x[0] == 1.5
    with pytest.raises(eagle.PlaneError, match=r"kernel 'shown' has an argument 'progress'.*another name"):
        eagle.simulate(shown, progress=np.ones(1), x=0.0)  # type: ignore[arg-type]


@pytest.mark.host_only("numbers become arrays of the host")
@pytest.mark.parametrize(
    ("left", "says"),
    [
        (-1.7, "an integer is needed"),
        (np.nan, "an integer is needed"),
        (2**40, "does not fit in int32"),
        ("3", "an integer is needed"),
    ],
)
def test_a_number_for_one_sample_is_not_bent(left: Any, says: str) -> None:
    with pytest.raises(eagle.PlaneError, match=f"plane 'left'.*{says}"):
        eagle.simulate(kernels.count_down, left=left)


@pytest.mark.host_only("numbers become arrays of the host")
def test_numbers_too_large_are_plane_errors() -> None:
    with pytest.raises(eagle.PlaneError, match=r"plane 'factor'.*too large"):
        eagle.deploy(kernels.scale).run(x=np.zeros(2), factor=10**400)
    assert eagle.simulate(kernels.count_down, left=3, max_steps=2**70).status == "finished"


@pytest.mark.host_only("refused before anything runs")
def test_callables_and_bound_plans_in_a_step_are_told_what_to_be() -> None:
    with pytest.raises(TypeError, match=r"opaque\(fn"):
        eagle.until_done([lambda: None, eagle.deploy(kernels.count_down, steps=1)], left=np.ones(1, np.int32))
    with pytest.raises(TypeError, match="planes as keywords"):
        eagle.until_done([eagle.deploy(kernels.bump).bind(x=np.zeros(1))])
    with pytest.raises(eagle.GraphError, match="needs a plan"):
        eagle.simulate([])


@pytest.mark.host_only("refused before anything runs")
def test_a_scalar_type_that_cannot_be_is_refused() -> None:
    plan = eagle.deploy(kernels.decay)
    with pytest.raises(eagle.GraphError, match="deployed already"):
        eagle.simulate(plan, scalar="float32", x=1.0, rate=0.5)
    with pytest.raises(eagle.GraphError, match="is made for float64"):
        eagle.deploy(plan.kernel, scalar="float32")
