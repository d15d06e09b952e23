"""Loops end when a stop is wanted, each sample at a whole step; limits of steps are exact."""

from __future__ import annotations

import ctypes
import threading
import time

import numpy as np
import pytest
from engine_running import POLL, Run, call, pieces
from small_kernels import countdown, endless, plane

from eagle.plugin import Argument
from eagle_cpu.engine import Arguments, Program, program_for
from eagle_ir import Builder, Type, to_kernel


def stopped_after(program: Program, entry: int, arguments: Arguments, samples: int, polls: int) -> int:
    """Run an entry that is told to stop at its nth poll; return its code."""
    flag, seen = ctypes.c_int32(0), []

    def look(run: int) -> None:
        seen.append(run)
        flag.value = int(len(seen) >= polls)

    poll = POLL(look)
    address = ctypes.cast(poll, ctypes.c_void_p).value
    run = Run(ctypes.sizeof(Run), 0, ctypes.pointer(flag), address)
    (code,) = call(entry, arguments.address, [(0, samples)], ctypes.addressof(run))
    assert len(seen) == polls
    return code


@pytest.mark.parametrize("polls", [1, 3])
def test_a_launch_stops_inside_an_endless_inner_loop(polls: int) -> None:
    x = np.array([0.0] * 40 + [-1.0] + [0.0] * 40)
    before = x.copy()
    program = program_for(endless(masked=False), lanes=8)
    arguments = program.arguments({"x": x}, {}, x.size)
    assert stopped_after(program, program.launch_entry, arguments, x.size, polls) == -1
    assert np.array_equal(x, before)


def test_a_loop_stopped_inside_a_step_leaves_every_sample_at_its_last_whole_step() -> None:
    x = np.array([3.0, 0.5, -2.5, 10.0])  # the first hangs in its 4th step
    done, steps = np.zeros(4, bool), np.zeros(4, np.int64)
    program = program_for(endless(masked=True), lanes=4)
    assert program.loop_entry is not None
    arguments = program.arguments({"x": x, "done": done}, {}, 4)
    arguments.set_loop(max_steps=10**6, steps=steps)
    assert stopped_after(program, program.loop_entry, arguments, 4, 2) == -1
    assert x.tolist() == [0.0, -2.5, -5.5, 7.0]
    assert steps.tolist() == [3, 3, 3, 3]
    assert done.tolist() == [False, False, True, False]


@pytest.mark.parametrize("hanging", [0, 5, 11, 15])
def test_groups_of_lanes_before_the_one_that_hangs_have_made_a_step_more(hanging: int) -> None:
    x = np.full(16, 100.0)
    x[hanging] = 3.0  # hangs in its 4th step
    done, steps = np.zeros(16, bool), np.zeros(16, np.int64)
    program = program_for(endless(masked=True), lanes=4)
    assert program.loop_entry is not None
    assert program.under_way >= 8
    arguments = program.arguments({"x": x, "done": done}, {}, 16)
    arguments.set_loop(max_steps=10**6, steps=steps)
    assert stopped_after(program, program.loop_entry, arguments, 16, 2) == -1
    before = 4 * (hanging % program.under_way // 4)  # samples of groups that had their turn
    first = hanging // program.under_way * program.under_way
    wanted = np.where(np.arange(16) - first < before, 4, 3)
    wanted[first + program.under_way :] = 0  # never entered a lane
    assert steps.tolist() == wanted.tolist()
    assert np.array_equal(x, np.where(np.arange(16) == hanging, 3.0, 100.0) - wanted)


def test_a_flag_set_by_another_thread_ends_a_loop_without_a_poll() -> None:
    flag = ctypes.c_int32(0)
    run = Run(ctypes.sizeof(Run), 0, ctypes.pointer(flag), None)
    left, seen, done = np.full(100, np.inf), np.zeros(100, np.int64), np.zeros(100, bool)
    program = program_for(countdown())
    assert program.loop_entry is not None
    arguments = program.arguments({"left": left, "seen": seen, "done": done}, {}, 100)
    arguments.set_loop(max_steps=2**62)

    def stop() -> None:
        time.sleep(0.02)
        flag.value = 1

    thread = threading.Thread(target=stop)
    thread.start()
    assert call(program.loop_entry, arguments.address, [(0, 100)], ctypes.addressof(run)) == [-1]
    thread.join()
    assert arguments.longest > 0
    assert set(seen[: program.under_way]) == {arguments.longest}
    assert not seen[program.under_way :].any()  # never entered a lane


@pytest.mark.parametrize("max_steps", [0, 1, 7, 16, 17, 1000])
@pytest.mark.parametrize("lanes", [4, 8, 32])
def test_the_limit_of_steps_is_exact_for_every_sample(max_steps: int, lanes: int) -> None:
    samples = 150
    left = np.arange(samples, dtype=float) % 40 + 1
    wanted = np.minimum(left, max_steps).astype(np.int64)
    left[5] = np.nan  # a condition that never holds
    wanted[5] = max_steps
    done = np.zeros(samples, bool)
    done[::7] = True
    wanted[::7] = 0
    start, seen, steps = left.copy(), np.zeros(samples, np.int64), np.zeros(samples, np.int64)
    program = program_for(countdown(), lanes=lanes)
    assert program.loop_entry is not None
    arguments = program.arguments({"left": left, "seen": seen, "done": done}, {}, samples)
    arguments.set_loop(max_steps=max_steps, steps=steps)
    assert set(call(program.loop_entry, arguments.address, pieces(samples, lanes * 3))) == {0}
    assert np.array_equal(seen, wanted)
    assert np.array_equal(steps, wanted)
    assert np.array_equal(left, start - wanted, equal_nan=True)
    assert arguments.longest == wanted.max()
    assert arguments.unfinished == np.count_nonzero((start > max_steps) & (np.arange(samples) % 7 > 0)) + 1


def test_a_sample_that_turns_infinite_or_nan_is_marked_as_failed_and_ends() -> None:
    left, seen, done = np.array([3.0, np.inf, np.nan, 2.0]), np.zeros(4, np.int64), np.zeros(4, bool)
    failed = np.zeros(4, bool)
    program = program_for(countdown())
    assert program.loop_entry is not None
    arguments = program.arguments({"left": left, "seen": seen, "done": done}, {}, 4)
    arguments.set_loop(max_steps=100, failed=failed)
    call(program.loop_entry, arguments.address, [(0, 4)])
    assert failed.tolist() == [False, True, True, False]
    assert done.tolist() == [True, False, False, True]
    assert seen.tolist() == [3, 1, 1, 2]
    assert arguments.unfinished == 0


def test_a_loop_computes_with_its_mask_which_is_false_while_a_sample_runs() -> None:
    done = Argument(name="done", role="mask", mode="rw", dtype="bool")
    builder = Builder("masked", [plane("step"), plane("x", "rw"), done])
    large = builder.compute("gt", builder.load("step"), builder.const(0.4, Type.F64))
    either = builder.compute("or", builder.load("done"), large)
    step = builder.compute("select", either, builder.const(0.5, Type.F64), builder.load("step"))
    x = builder.compute("add", builder.load("x"), step)
    builder.store("x", x)
    builder.store("done", builder.compute("ge", x, builder.const(1.0, Type.F64)))
    arrays = {"step": np.array([9.0, 0.25, 1.0]), "x": np.zeros(3), "done": np.array([False, False, True])}
    program = program_for(to_kernel(builder.finish()), lanes=4)
    assert program.loop_entry is not None
    arguments = program.arguments(arrays, {}, 3)
    steps = np.zeros(3, np.int64)
    arguments.set_loop(max_steps=100, steps=steps)
    assert call(program.loop_entry, arguments.address, [(0, 3)]) == [0]
    assert steps.tolist() == [2, 4, 0]
    assert arrays["x"].tolist() == [1.0, 1.0, 0.0]
