"""Native jobs on the thread team: every sample once, from anywhere, at any size, until someone says stop."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_cpu import team

HEADERS = Path(__file__).parents[2] / "plugins" / "eagle_cpu" / "src" / "native"
DEAR = 1e6  # nanoseconds a sample: worth waking everybody, however few samples there are

ENTRIES = r"""
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "eagle/exec/abi.h"

#define SIGNATURE (void *args, int64_t begin, int64_t end, const eagle_run *run)

int32_t add_one SIGNATURE {
    int64_t *numbers = args;
    (void)run;
    for (int64_t i = begin; i < end; ++i) ++numbers[i];
    return 0;
}

/* args: where to note, for each sample, where its range began. */
int32_t note_begin SIGNATURE {
    int64_t *begins = args;
    (void)run;
    for (int64_t i = begin; i < end; ++i) begins[i] = begin;
    return 0;
}

/* args: an array of codes, one for each sample; the largest is returned. Every sample is then set to -1. */
int32_t fail_as_told SIGNATURE {
    int64_t *codes = args, largest = 0;
    (void)run;
    for (int64_t i = begin; i < end; ++i) {
        if (codes[i] > largest) largest = codes[i];
        codes[i] = -1;
    }
    return (int32_t)largest;
}

int32_t endless SIGNATURE {
    (void)args; (void)begin; (void)end;
    while (!*run->stop) run->poll(run);
    return -1;
}

/* Only other threads work on: the caller has nothing to do but wait. */
int32_t endless_elsewhere SIGNATURE {
    return run->worker == 0 ? 0 : endless(args, begin, end, run);
}

int32_t stops_by_itself SIGNATURE {
    (void)args; (void)begin; (void)end; (void)run;
    return -1;
}

/* Takes a while without polling, then looks. */
int32_t doze SIGNATURE {
    const struct timespec while_ = {0, 1000000};
    (void)args; (void)begin; (void)end;
    nanosleep(&while_, 0);
    run->poll(run);
    return *run->stop ? -1 : 0;
}

/* args: for each sample 1 where the rounding mode is the default one. Then leaves another. */
int32_t rounding SIGNATURE {
    int64_t *right = args;
    (void)run;
    for (int64_t i = begin; i < end; ++i) right[i] = fegetround() == FE_TONEAREST;
    fesetround(FE_DOWNWARD);
    return 0;
}

int32_t set_rounding_upward(void) { return fesetround(FE_UPWARD); }
int32_t rounds_upward(void) { return fegetround() == FE_UPWARD; }
int32_t set_rounding_to_nearest(void) { return fesetround(FE_TONEAREST); }

/* args: for each sample 1 where the thread is the caller or blocks SIGINT and lets SIGSEGV through. */
int32_t signals SIGNATURE {
    int64_t *right = args;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, 0, &mask);
    const int fine = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0;
    for (int64_t i = begin; i < end; ++i) right[i] = run->worker == 0 || fine;
    return 0;
}

/* args: for each sample the worker that ran it, after a millisecond. */
int32_t who SIGNATURE {
    int64_t *workers = args;
    for (int64_t i = begin; i < end; ++i) {
        doze(0, i, i + 1, run);
        workers[i] = run->worker;
    }
    return 0;
}
"""


class Entries:
    """The compiled code of `ENTRIES`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.CDLL(str(path))

    def __getitem__(self, name: str) -> int:
        address = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value
        assert address is not None
        return address


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Entries:
    folder = tmp_path_factory.mktemp("entries")
    source, library = folder / "entries.c", folder / "entries.so"
    source.write_text(ENTRIES)
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    compiler = compiler if shutil.which(compiler) else "cc"
    command = [compiler, "-O1", "-frounding-math", "-shared", "-fPIC", "-pthread"]
    subprocess.run([*command, "-I", HEADERS, source, "-o", library, "-lm"], check=True)
    return Entries(library)


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


def numbers(samples: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.zeros(samples, np.int64)


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def plane(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int, tuple[int, ...], tuple[int, ...]]:
    return array, address(array), array.shape, array.strides


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


def in_threads(count: int, work: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not failures


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


# size -----------------------------------------------------------------------------------------------------------------


def test_the_size_can_be_changed_between_jobs(entries: Entries) -> None:
    for threads in (1, 8, 2, 5, 1, 3):
        team.set_team_size(threads)
        x = numbers(500)
        team.run(entries["add_one"], address(x), 500, cost_ns=DEAR)
        assert (x == 1).all()
        assert team.team_size() == threads


@pytest.mark.parametrize("wrong", [0, -3, 1025])
def test_sizes_that_make_no_sense_are_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match=f"a team of {wrong} threads: pass a number from 1 to 1024"):
        team.set_team_size(wrong)


def python(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "EAGLE_NUM_THREADS"} | environment
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=60, check=False)


def test_the_environment_says_how_many() -> None:
    ran = python("from eagle_cpu import team; print(team.team_size())", EAGLE_NUM_THREADS="7")
    assert (ran.stdout, ran.stderr) == ("7\n", "")


@pytest.mark.parametrize("useless", ["0", "-1", "many", "2.5", ""])
def test_a_useless_setting_is_said_once_and_ignored(useless: str) -> None:
    ran = python(
        "import os\nfrom eagle_cpu import team\nassert team.team_size() == len(os.sched_getaffinity(0))",
        EAGLE_NUM_THREADS=useless,
    )
    assert ran.returncode == 0
    assert ran.stderr.count("is no number from 1 on") == 1


def test_without_a_setting_the_affinity_mask_counts() -> None:
    ran = python(
        """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        from eagle_cpu import team
        print(team.team_size())
        """
    )
    assert ran.stdout == "1\n"


LOAD = """
import ctypes, os, signal, sys, threading, time
import numpy as np
from eagle_cpu import team

signal.signal(signal.SIGINT, signal.default_int_handler)     # a shell may have started the tests with SIGINT ignored
library = ctypes.CDLL(sys.argv[1])
def entry(name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
def add_one():
    x = np.zeros(1000, np.int64)
    team.run(entry("add_one"), x.ctypes.data, 1000, cost_ns=1e6)
    assert (x == 1).all()
team.set_team_size(4)
"""


def script(text: str, entries: Entries) -> subprocess.CompletedProcess[str]:
    return python(LOAD + textwrap.dedent(text), entries.path)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux how much memory is taken")
def test_when_the_system_gives_no_threads_the_caller_works_alone(entries: Entries) -> None:
    ran = script(
        """
        import resource
        taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        limit = taken + (256 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        team.set_team_size(1000)        # megabytes of stack each
        add_one()
        assert team.team_size() < 1000, team.team_size()
        add_one()
        """,
        entries,
    )
    assert ran.returncode == 0, ran.stderr


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


# fork, interrupts, exit -----------------------------------------------------------------------------------------------


def test_a_forked_child_works_even_when_the_team_was_busy(entries: Entries) -> None:
    ran = script(
        """
        import warnings
        warnings.simplefilter("ignore")     # newer Pythons warn of a fork with threads: it is what is tried here
        add_one()
        over = threading.Event()
        def work():
            while not over.is_set():
                add_one()
        busy = threading.Thread(target=work)
        busy.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                for _ in range(20):
                    add_one()
                os._exit(17)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
        over.set()
        busy.join()
        add_one()
        """,
        entries,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("name", "samples", "cost_ns"),
    [("endless", 1, 1.0), ("endless", 100, DEAR), ("endless_elsewhere", 100, DEAR)],
    ids=["in place", "on the team", "while the caller waits"],
)
def test_ctrl_c_stops_an_endless_job(entries: Entries, name: str, samples: int, cost_ns: float) -> None:
    ran = script(
        f"""
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                team.run(entry({name!r}), 0, {samples}, cost_ns={cost_ns})
        except KeyboardInterrupt:
            add_one()
            print("stopped")
        """,
        entries,
    )
    assert (ran.stdout, ran.stderr) == ("stopped\n", "")


def test_ctrl_c_stops_a_sequence_and_says_where(entries: Entries) -> None:
    ran = script(
        """
        jobs = team.JobList([(entry("doze"), 0, 1, 1, 1e6)] * 3)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        outcome = jobs.run(10**15)
        assert isinstance(outcome, team.Interrupted) and isinstance(outcome.error, KeyboardInterrupt), outcome
        assert 0 <= outcome.job < 3 and outcome.repetition > 0
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            team.run_sequence(jobs, 10**15)
        except KeyboardInterrupt:
            print("stopped")
        """,
        entries,
    )
    assert (ran.stdout, ran.stderr) == ("stopped\n", "")


def test_ctrl_c_stops_a_sequence_of_jobs_too_short_to_look(entries: Entries) -> None:
    ran = script(
        """
        x = np.zeros(1, np.int64)
        jobs = team.JobList([(entry("add_one"), x.ctypes.data, 1, 1, 1.0)])
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        outcome = jobs.run(10**15)
        assert isinstance(outcome.error, KeyboardInterrupt)
        assert outcome.repetition + 1 == x[0]
        """,
        entries,
    )
    assert ran.returncode == 0, ran.stderr


def test_a_signal_handler_runs_during_a_job_and_may_raise_anything(entries: Entries) -> None:
    def handler(number: int, frame: object) -> None:
        seen.append(number)
        if len(seen) == 2:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise LookupError("enough")

    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        with pytest.raises(LookupError, match="enough"):
            team.run(entries["endless"], 0, 100, cost_ns=DEAR)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) == 2


@pytest.mark.parametrize("cost_ns", [1.0, DEAR], ids=["in place", "on the team"])
def test_the_process_ends_although_a_daemon_thread_is_in_an_endless_job(entries: Entries, cost_ns: float) -> None:
    ran = script(
        f"""
        def work():
            try:
                team.run(entry("endless"), 0, 100, cost_ns={cost_ns})
            except RuntimeError:
                pass
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        print("leaving")
        """,
        entries,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "leaving\n", "")


def test_jobs_still_run_after_the_team_is_gone(entries: Entries) -> None:
    ran = script(
        """
        from eagle_cpu import _native
        add_one()
        _native.shut_down()
        add_one()
        _native.shut_down()
        """,
        entries,
    )
    assert ran.returncode == 0, ran.stderr


# sequences ------------------------------------------------------------------------------------------------------------


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
