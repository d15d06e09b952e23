"""Jobs that are under way when the process forks, is interrupted or ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from team_entries import DEAR, Entries, script

from eagle_cpu import team


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


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
