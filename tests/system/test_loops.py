"""Loops: every sample to its own end, exact limits, steps of several nodes, what is reported."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from typing import Any

import kernels
import numpy as np
import pytest

import eagle
import hawk
from eagle.errors import GraphTypeError
from eagle.graph import opaque
from hawk import Index, Int32, Mutable, Param, Scalar, Terminated


@hawk.kernel
def oscillator(
    omega: Scalar,
    t_end: Param,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end


@hawk.kernel
def grow(x: Mutable[Scalar], terminated: Terminated):
    x = x * x
    terminated = x == 2.0


@hawk.kernel
def halve(x: Mutable[Scalar]):
    x *= 0.5


@hawk.kernel
def endless(x: Mutable[Scalar], terminated: Terminated):
    while x > 0.0:
        x += 1.0
    terminated = x < 0.0


def left(n: int = 300) -> np.ndarray:
    return (np.arange(n) % 97 + 1).astype(np.int32)


# one plan -------------------------------------------------------------------------------------------------------------


def test_every_sample_stops_at_its_own_step(device: Any) -> None:
    steps = left()
    result = eagle.simulate(kernels.count_down, left=device.put(left()), steps_per_sample=True)
    assert not device.to_numpy(result.left).any()
    assert device.to_numpy(result.terminated).all()
    np.testing.assert_array_equal(device.to_numpy(result.steps), steps)
    report = result.report
    assert (report.samples, report.finished, report.steps, report.launches, report.native_launches) == (
        300,
        300,
        97,
        2,
        1,
    )
    assert (result.status, report.done, report.failed) == ("finished", True, 0)


def test_the_pages_oscillator_gives_numpys_bits_and_its_launches(device: Any) -> None:
    n, dt = 1000, 1e-3
    omega = np.linspace(1.0, 3.0, n)
    x, v, t = (device.array(one) for one in (np.ones(n), np.zeros(n), np.zeros(n)))
    runner = eagle.until_done(
        eagle.deploy(oscillator), max_steps=10_000, x=x, v=v, t=t, omega=device.put(omega), t_end=1.0, dt=dt
    )
    report = runner.run()
    assert report.launches in (16, 17)
    assert report.build_s > 0
    p, q = np.ones(n), np.zeros(n)
    for _ in range(report.steps):
        p, q = p + dt * q, q - dt * omega * omega * p
    np.testing.assert_array_equal(device.to_numpy(x), p)
    np.testing.assert_array_equal(device.to_numpy(v), q)
    again = runner.run()
    assert (again.launches, again.native_launches, again.steps, again.build_s) == (0, 0, 0, 0)
    assert again.done


def test_a_limit_is_exact_for_every_sample_and_run_goes_on_after_it(device: Any) -> None:
    counts = device.put(left())
    runner = eagle.until_done(eagle.deploy(kernels.count_down), max_steps=50, left=counts)
    report = runner.run()
    assert (report.status, report.steps) == ("max_steps", 50)
    np.testing.assert_array_equal(device.to_numpy(counts), np.maximum(left() - 50, 0))
    assert report.finished == np.count_nonzero(left() <= 50)
    assert runner.run(max_steps=7).steps == 7
    np.testing.assert_array_equal(device.to_numpy(counts), np.maximum(left() - 57, 0))
    assert runner.run().status == "finished"
    assert not device.to_numpy(counts).any()


def test_samples_that_are_finished_before_are_left_alone(device: Any) -> None:
    before = np.arange(300) % 3 == 0
    counts, mask = device.put(left()), device.put(before)
    result = eagle.simulate(kernels.count_down, left=counts, terminated=mask, steps_per_sample=True)
    np.testing.assert_array_equal(device.to_numpy(counts), np.where(before, left(), 0))
    np.testing.assert_array_equal(device.to_numpy(result.steps), np.where(before, 0, left()))


def test_reset_starts_anew_from_what_the_arrays_hold(device: Any) -> None:
    counts = device.put(left())
    runner = eagle.until_done(eagle.deploy(kernels.count_down), left=counts, steps_per_sample=True)
    runner.run()
    device.write(counts, 5)
    assert runner.reset().run().steps == 5
    assert (device.to_numpy(runner.steps_taken) == 5).all()


def test_no_samples_are_done_at_once(device: Any) -> None:
    result = eagle.simulate(kernels.count_down, left=device.array([], np.int32))
    assert (result.status, result.report.launches) == ("finished", 0)


@pytest.mark.parametrize("kernel", [kernels.decay, [kernels.decay, halve]], ids=["one kernel", "several"])
def test_no_samples_are_done_at_once_whatever_is_asked_of_them(kernel: Any, device: Any) -> None:
    calls: list[tuple[int, int, int]] = []
    result = eagle.simulate(
        kernel,
        steps_per_sample=True,
        stop_on_nonfinite=True,
        progress=lambda *how: calls.append(how),
        x=device.array([]),
        rate=device.array([]),
    )
    assert (result.status, result.report.native_launches, calls) == ("finished", 0, [])
    assert device.to_numpy(result.steps).size == result.failed.size == 0


def test_max_steps_of_zero_runs_nothing(device: Any) -> None:
    counts = device.put(left())
    assert eagle.simulate(kernels.count_down, left=counts, max_steps=0).status == "max_steps"
    np.testing.assert_array_equal(device.to_numpy(counts), left())


@pytest.mark.host_only("numbers become arrays of the host")
def test_numbers_are_taken_for_one_sample() -> None:
    result = eagle.simulate(kernels.decay, x=100.0, rate=0.5)
    assert result.x.shape == (1,)
    assert result.x[0] == 100 * 0.5**7
    with pytest.raises(eagle.PlaneError, match=r"x 1, rate 3.*np\.full"):
        eagle.simulate(kernels.decay, x=100.0, rate=np.full(3, 0.5))


@hawk.kernel
def counters(wide: Mutable[Index], narrow: Mutable[Int32], terminated: Terminated, x: Mutable[Scalar]):
    k = 0
    while k < 1:
        k += 1
    wide += k + 1
    narrow += 1
    x += 1
    terminated = wide >= 10


def test_one_number_in_several_types_is_each_of_them(device: Any) -> None:
    planes = {"wide": np.zeros(3, np.int64), "narrow": np.zeros(3, np.int32), "x": np.zeros(3)}
    result = eagle.simulate(counters, **{name: device.put(array) for name, array in planes.items()})
    assert [device.to_numpy(result.arrays[name]).tolist() for name in planes] == [[10] * 3, [5] * 3, [5.0] * 3]


def test_float32_loops_stay_in_float32(device: Any) -> None:
    x, expected = device.array(np.full(100, 100), np.float32), np.float32(100)
    result = eagle.simulate(kernels.decay, x=x, rate=device.array(np.full(100, 0.9), np.float32), scalar="float32")
    assert result.x is x
    while expected >= 1:
        expected *= np.float32(0.9)
    assert (device.to_numpy(x) == expected).all()


def test_state_arrays_are_the_callers_own_and_found_by_name(device: Any) -> None:
    counts = device.put(left())
    result = eagle.simulate(kernels.count_down, left=counts)
    assert result.left is counts
    assert "left" in dir(result)
    with pytest.raises(AttributeError, match="no array 'right'; it has left, terminated"):
        result.right  # noqa: B018


def test_a_sample_whose_state_is_no_number_ends_and_is_listed(device: Any) -> None:
    x = device.array([4.0, 1.5, np.nan, 4.0, 3.0])
    result = eagle.simulate(grow, x=x, stop_on_nonfinite=True, max_steps=100)
    assert list(result.failed) == [0, 1, 2, 3, 4]
    assert (result.report.failed, result.report.finished, result.status) == (5, 0, "finished")


def test_without_looking_for_it_a_sample_that_is_no_number_runs_to_the_limit(device: Any) -> None:
    result = eagle.simulate(grow, x=device.array([np.nan]), max_steps=10)
    assert (result.status, result.report.steps, result.failed) == ("max_steps", 10, None)


# steps of several nodes -----------------------------------------------------------------------------------------------


@pytest.mark.host_only("its nodes are Python callables that look at arrays of the host")
@pytest.mark.parametrize("declares", [True, False])
def test_a_step_of_several_nodes_runs_in_list_order_once_per_step(declares: bool) -> None:
    n, log = 5, []
    counts, x, mask = np.arange(1, n + 1, dtype=np.int32), np.ones(n), np.zeros(n, bool)
    model = opaque(lambda: log.append(mask.sum()), reads={"mask": mask}, name="model")
    parts: list[Any] = [model, eagle.deploy(halve, steps=1), eagle.deploy(kernels.count_down, steps=1)]
    if not declares:
        stop = opaque(lambda: np.less_equal(counts, len(log), out=mask), reads={"c": counts}, writes={"mask": mask})
        parts[2] = stop
        result = eagle.until_done(parts, x=x, terminated=mask, max_steps=100, steps_per_sample=True)
    else:
        result = eagle.until_done(parts, x=x, left=counts, terminated=mask, max_steps=100, steps_per_sample=True)
    report = result.run()
    assert (report.steps, report.launches, report.finished) == (n, n, n)
    assert log == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(x, 0.5 ** np.arange(1, n + 1))  # a plan never writes a finished sample
    np.testing.assert_array_equal(result.steps_taken, np.arange(1, n + 1))
    assert report.driven == "device"  # the backend itself repeats it
    assert "by itself" in report.notes


def test_a_step_of_several_kernels_in_simulate(device: Any) -> None:
    counts = device.array([1, 2, 3, 4], np.int32)
    result = eagle.simulate([halve, kernels.count_down], x=device.array(np.ones(4)), left=counts, steps_per_sample=True)
    np.testing.assert_array_equal(device.to_numpy(result.x), [0.5, 0.25, 0.125, 0.0625])
    assert device.to_numpy(result.steps).tolist() == [1, 2, 3, 4]


def test_a_limit_is_exact_in_a_step_of_several_nodes(device: Any) -> None:
    x, counts = device.array(np.ones(4)), device.array(np.full(4, 100), np.int32)
    runner = eagle.until_done(
        [eagle.deploy(halve, steps=1), eagle.deploy(kernels.count_down, steps=1)], x=x, left=counts, max_steps=3
    )
    assert runner.run().status == "max_steps"
    assert device.to_numpy(x)[0] == 0.125
    assert runner.run(2).steps == 2
    assert device.to_numpy(x)[0] == 0.5**5


def test_non_finite_states_end_samples_in_a_step_of_several_nodes(device: Any) -> None:
    x, counts = device.array([1.0, np.inf, np.nan, 1.0]), device.array(np.full(4, 3), np.int32)
    result = eagle.simulate([halve, kernels.count_down], x=x, left=counts, stop_on_nonfinite=True)
    assert list(result.failed) == [1, 2]
    assert device.to_numpy(counts).tolist() == [0, 2, 2, 0]
    assert result.report.finished == 2


# refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.host_only("refused before anything runs")
def test_a_step_that_never_ends_is_refused() -> None:
    with pytest.raises(eagle.GraphError, match=r"nothing says when a sample is done.*Declare"):
        eagle.until_done(eagle.deploy(halve), x=np.ones(3))
    with pytest.raises(eagle.GraphError, match="needs a plan"):
        eagle.until_done([opaque(lambda: None)])


@pytest.mark.host_only("refused before anything runs")
def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(GraphTypeError, match="made of plans and nodes"):
        eagle.until_done(kernels.decay)
    with pytest.raises(GraphTypeError, match="takes a kernel"):
        eagle.simulate(3)
    with pytest.raises(eagle.GraphError, match=r"takes 64 steps a launch.*steps=1"):
        eagle.until_done([opaque(lambda: None), eagle.deploy(kernels.decay)], x=np.ones(1), rate=np.ones(1))


@pytest.mark.host_only("refused before anything runs")
def test_limits_and_names_that_cannot_be_are_refused() -> None:
    plan = eagle.deploy(kernels.decay)
    with pytest.raises(eagle.GraphError, match="max_steps is -1"):
        eagle.until_done(plan, max_steps=-1, x=np.ones(1), rate=np.ones(1))
    with pytest.raises(GraphTypeError, match=r"max_steps is an integer, not 1\.5"):
        eagle.until_done(plan, max_steps=1.5, x=np.ones(1), rate=np.ones(1))  # type: ignore[arg-type]
    with pytest.raises(eagle.PlaneError, match="no kernel of the step has an argument 'speed'"):
        eagle.until_done(plan, x=np.ones(1), rate=np.ones(1), speed=3)
    with pytest.raises(eagle.PlaneError, match="rate"):
        eagle.until_done(plan, x=np.ones(1))


# progress and interruption --------------------------------------------------------------------------------------------


def test_progress_calls_as_the_run_goes_on_and_changes_no_result(device: Any) -> None:
    calls: list[tuple[int, int, int]] = []
    result = eagle.simulate(
        kernels.count_down,
        left=device.put(left()),
        max_steps=640,
        progress=lambda *how: calls.append(how),
        steps_per_sample=True,
    )
    np.testing.assert_array_equal(device.to_numpy(result.steps), left())
    assert len(calls) == 10
    assert calls[-1] == (300, 300, 97)
    assert result.report.native_launches == 10


@pytest.mark.host_only("refused before anything runs")
def test_progress_is_a_bool_or_a_callable() -> None:
    with pytest.raises(GraphTypeError, match="progress is"):
        eagle.simulate(kernels.count_down, left=left(), progress=3)  # type: ignore[arg-type]


def test_a_bar_is_shown_on_a_run_that_takes_long(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    import eagle.progress

    monkeypatch.setattr(eagle.progress, "_QUIET_S", 0.0)
    with contextlib.redirect_stderr(io.StringIO()):
        assert eagle.simulate(kernels.count_down, left=device.put(left()), progress=True).status == "finished"


@pytest.mark.host_only("runs in a process without the device of this one")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.parametrize("kernel", ["loop", "inner"])
def test_ctrl_c_stops_a_loop_that_never_ends(kernel: str) -> None:
    code = f"""
import signal, time
import numpy as np
import eagle, test_loops
signal.signal(signal.SIGALRM, signal.default_int_handler)
x = np.ones(100_000)
runner = eagle.until_done(eagle.deploy(test_loops.{"grow" if kernel == "loop" else "endless"}), x=x)
signal.setitimer(signal.ITIMER_REAL, 0.3)
start = time.perf_counter()
try:
    runner.run()
except KeyboardInterrupt as error:
    late = time.perf_counter() - start - 0.3
    print("stopped", late < 5, "samples are finished" in "".join(error.__notes__))
print(runner.run(max_steps=0).done)
"""
    here = os.path.dirname(__file__)  # noqa: PTH120
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([here, os.path.join(here, "..", "lib")])}  # noqa: PTH118
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert ran.stdout.split() == ["stopped", "True", "True", "False"], ran.stderr
