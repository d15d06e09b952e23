"""Jobs in a row: run again and again, over planes that are where they were."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from team_entries import DEAR, Entries, address, in_threads, numbers, plane

from eagle_cpu import team


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


def test_a_sequence_runs_its_jobs_in_order_again_and_again(entries: Entries) -> None:
    x = numbers(300)
    add = (entries["add_one"], address(x), 300, 1, DEAR)
    jobs = team.JobList([add, add], [plane(x)])
    assert len(jobs) == 2
    assert jobs.run() is None
    assert team.run_sequence(jobs, 10) is None
    assert jobs.run(0) is None
    assert (x == 22).all()
    with pytest.raises(ValueError, match="n is -1"):
        jobs.run(-1)


def test_many_threads_run_sequences_at_once(entries: Entries) -> None:
    stops = team.JobList([(entries["stops_by_itself"], 0, 1, 1, 1.0)], [])  # one list for all threads

    def work() -> None:
        x = numbers(500)
        jobs = team.JobList([(entries["add_one"], address(x), 500, 1, cost_ns) for cost_ns in (1.0, DEAR)], [plane(x)])
        for _ in range(50):
            assert jobs.run(3) is None
            assert jobs.moved() is None
            assert isinstance(stops.run(), team.Interrupted)
        assert (x == 300).all()

    in_threads(8, work)


def test_the_repetition_in_which_a_job_fails_is_finished_and_is_the_last(entries: Entries) -> None:
    x, codes = numbers(100), np.full(100, 5, np.int64)
    add, fail = entries["add_one"], entries["fail_as_told"]
    targets = [(add, x), (fail, codes), (add, x), (fail, codes)]
    jobs = team.JobList([(entry, address(target), 100, 1, DEAR) for entry, target in targets])
    outcome = team.run_sequence(jobs, 7)
    assert isinstance(outcome, team.Failed)
    assert (outcome.job, outcome.code, outcome.repetition) == (1, 5, 0)
    assert (x == 2).all()


def test_a_plane_that_moved_is_named_and_nothing_runs(entries: Entries) -> None:
    x, y, z = numbers(10), numbers(10), np.zeros((3, 4)).T
    jobs = team.JobList([(entries["add_one"], address(x), 10, 1, 1.0)], [plane(x), plane(z), plane(y)])
    assert jobs.moved() is None
    y.resize(1_000_000, refcheck=False)
    for outcome in (jobs.moved(), jobs.run(3), team.run_sequence(jobs)):
        assert isinstance(outcome, team.Moved)
        assert outcome.plane == 2
    assert (x == 0).all()


def test_a_plane_that_shrank_where_it_is_has_moved(entries: Entries) -> None:
    x = numbers(1000)
    jobs = team.JobList([(entries["add_one"], address(x), 1000, 1, 1.0)], [plane(x)])
    x.resize(999, refcheck=False)
    outcome = jobs.run()
    assert isinstance(outcome, team.Moved)
    assert outcome.plane == 0


def test_an_owner_of_memory_may_have_any_strides(entries: Entries) -> None:
    x = np.zeros((3, 4))
    jobs = team.JobList([], [(x, address(x), (3, 4), None)])
    assert jobs.moved() is None
    x.resize((4, 3), refcheck=False)
    assert jobs.moved() is not None


def test_planes_of_any_rank_and_layout_are_known_again(entries: Entries) -> None:
    base = np.zeros((4, 5, 6), np.float32)
    arrays: list[np.ndarray[Any, Any]] = [
        np.zeros(()),
        np.zeros(0),
        np.zeros((0, 3)),
        base,
        base.T,
        base[::-1, 1:, ::2],
        np.zeros(3, "M8[s]"),
    ]
    jobs = team.JobList([(entries["add_one"], 0, 0, 1, 1.0)], [plane(array) for array in arrays])
    assert jobs.run() is None


def test_planes_that_are_not_where_they_are_said_to_be_are_refused(entries: Entries) -> None:
    x = numbers(10)
    array, where, shape, strides = plane(x)
    fine = plane(numbers(3))
    for wrong in (
        (array, where + 8, shape, strides),
        (array, where, (9,), strides),
        (array, where, shape, (16,)),
        (array, where, (*shape, 1), (*strides, 8)),
        (array, where, shape, ()),
    ):
        with pytest.raises(ValueError, match="plane 1 is not at the address"):
            team.JobList([(entries["add_one"], 0, 0, 1, 1.0)], [fine, wrong])


def test_planes_of_another_library_are_refused(entries: Entries) -> None:
    with pytest.raises(TypeError, match=r"plane 0 is no NumPy array: pass arrays .* through np.asarray"):
        team.JobList([], [(bytearray(8), 0, (8,), (1,))])  # type: ignore[list-item]


def test_a_list_keeps_its_arrays_and_can_be_collected_with_them(entries: Entries) -> None:
    class Array(np.ndarray[Any, np.dtype[np.float64]]):
        jobs: team.JobList

    x = np.zeros(5).view(Array)
    gone = weakref.ref(x)
    x.jobs = team.JobList([(entries["add_one"], 0, 0, 1, 1.0)], [plane(x)])
    jobs = x.jobs
    del x
    gc.collect()
    assert gone() is not None
    del jobs
    gc.collect()
    assert gone() is None
