"""Native jobs on the thread team: every sample once, from anywhere, in the same floating-point environment."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from team_entries import DEAR, Entries, address, in_threads, numbers

from eagle_cpu import team


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


# every sample once ----------------------------------------------------------------------------------------------------


@pytest.mark.property
@given(
    samples=st.integers(0, 3000),
    grain=st.one_of(st.integers(1, 64), st.integers(1, 2**62)),
    threads=st.integers(1, 8),
    cost_ns=st.sampled_from([1e-3, 1.0, 100.0, DEAR]),
)
def test_every_sample_runs_once_and_cuts_lie_at_the_grain(
    entries: Entries, samples: int, grain: int, threads: int, cost_ns: float
) -> None:
    team.set_team_size(threads)
    x, begins = numbers(samples), numbers(samples)
    assert team.run(entries["add_one"], address(x), samples, grain, cost_ns=cost_ns) == 0
    assert team.run(entries["note_begin"], address(begins), samples, grain, cost_ns=cost_ns) == 0
    assert (x == 1).all()
    assert (begins % grain == 0).all()


def test_several_threads_work_on_a_large_job_and_only_the_caller_on_a_small_one(entries: Entries) -> None:
    workers = numbers(64)
    team.run(entries["who"], address(workers), 64, cost_ns=DEAR)
    assert len(set(workers)) > 1
    team.run(entries["who"], address(workers), 64, cost_ns=1.0)
    assert set(workers) == {0}


def test_a_team_of_one_is_the_caller(entries: Entries) -> None:
    team.set_team_size(1)
    workers = numbers(16)
    team.run(entries["who"], address(workers), 16, cost_ns=DEAR)
    assert set(workers) == {0}


def test_entries_may_be_written_in_python(entries: Entries) -> None:
    """They take the interpreter's lock, which the caller must therefore not hold, neither working nor waiting."""
    begins: list[tuple[int, int]] = []
    signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)

    def entry(args: int, begin: int, end: int, run: int) -> int:
        begins.append((begin, end))
        return 0

    callback = signature(entry)
    pointer = ctypes.cast(callback, ctypes.c_void_p).value
    assert pointer is not None
    team.run(pointer, 0, 1000, 10, cost_ns=DEAR)
    begins.sort()
    assert begins[0][0] == 0
    assert begins[-1][1] == 1000
    assert all(one[1] == next_[0] for one, next_ in itertools.pairwise(begins))


# failures -------------------------------------------------------------------------------------------------------------


@pytest.mark.property
@given(st.lists(st.integers(0, 2**31 - 1), max_size=200), st.integers(1, 5))
def test_the_largest_code_is_returned_and_nothing_is_left_out(entries: Entries, codes: list[int], threads: int) -> None:
    team.set_team_size(threads)
    told = np.array(codes, np.int64)
    assert team.run(entries["fail_as_told"], address(told), told.size, cost_ns=DEAR) == max(codes, default=0)
    assert (told == -1).all()


def test_code_that_stops_of_itself_is_an_error(entries: Entries) -> None:
    with pytest.raises(RuntimeError, match="its code returned a negative number"):
        team.run(entries["stops_by_itself"], 0, 10)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"entry": 0}, "entry is 0"),
        ({"samples": -1}, "samples is -1"),
        ({"grain": 0}, "grain is 0"),
        ({"cost_ns": 0.0}, "cost_ns is 0"),
        ({"cost_ns": float("nan")}, "cost_ns is nan"),
        ({"cost_ns": float("inf")}, "cost_ns is inf"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(entries: Entries, wrong: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"entry": entries["add_one"], "args": 0, "samples": 0, "grain": 1, "cost_ns": 1.0} | wrong
    with pytest.raises(ValueError, match=message):
        team.run(**given)
    with pytest.raises(ValueError, match=message):
        team.JobList([tuple(given.values())])


# competition ----------------------------------------------------------------------------------------------------------


def test_many_threads_call_at_once_while_the_size_changes(entries: Entries) -> None:
    def work() -> None:
        x = numbers(1000)
        for i in range(100):
            team.run(entries["add_one"], address(x), 1000, cost_ns=DEAR)
            if i % 10 == 0:
                team.set_team_size(i % 4 + 1)
        assert (x == 100).all()

    in_threads(12, work)


def test_a_job_may_run_jobs(entries: Entries) -> None:
    x = numbers(100)
    totals: list[int] = []
    signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)

    def entry(args: int, begin: int, end: int, run: int) -> int:
        for _ in range(begin, end):
            mine = numbers(100)
            team.run(entries["add_one"], address(mine), 100, cost_ns=DEAR)
            totals.append(int(mine.sum()))
        return 0

    callback = signature(entry)
    pointer = ctypes.cast(callback, ctypes.c_void_p).value
    assert pointer is not None
    team.run(pointer, address(x), 50, cost_ns=DEAR)
    assert totals == [100] * 50


# environment of a job -------------------------------------------------------------------------------------------------


def test_jobs_run_in_the_default_floating_point_environment_and_the_callers_comes_back(entries: Entries) -> None:
    right = numbers(200)
    try:
        entries.library.set_rounding_upward()
        for cost_ns in (1.0, DEAR):
            team.run(entries["rounding"], address(right), 200, cost_ns=cost_ns)
            upward = entries.library.rounds_upward()
            assert upward == 1
    finally:
        entries.library.set_rounding_to_nearest()
    assert (right == 1).all()


def test_workers_block_signals_but_not_their_own_faults(entries: Entries) -> None:
    right = numbers(200)
    team.run(entries["signals"], address(right), 200, cost_ns=DEAR)
    assert (right == 1).all()
