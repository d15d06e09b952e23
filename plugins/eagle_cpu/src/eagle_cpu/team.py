"""The threads native jobs share: one team for the process, started on first use.

A job is compiled code with the C interface ``eagle_entry`` (``eagle/exec/abi.h``): ``int32_t entry(void *args, int64_t
begin, int64_t end, const eagle_run *run)``. It is called over ranges that cover ``0 .. samples`` once, in any order, on
any thread, without the interpreter's lock and in the default floating-point environment.

The calling thread works too. It works alone when the job is small, when another caller has the team, and when it is
itself part of a job: nobody ever waits for the team. Ctrl-C works while a job of the main thread runs.

The size is what ``EAGLE_NUM_THREADS`` says, else the number of CPUs this process may use. Results do not depend on it.
"""

from __future__ import annotations

import os
import warnings

from eagle_cpu import _native
from eagle_cpu._native import BRANCH_TASKS_MAX_SAMPLES, Failed, Interrupted, JobList, Moved

__all__ = [
    "run",
    "run_sequence",
    "resolve",
    "team_size",
    "set_team_size",
    "BRANCH_TASKS_MAX_SAMPLES",
    "JobList",
    "Moved",
    "Failed",
    "Interrupted",
]


def run(entry: int, args: int, samples: int, grain: int = 1, *, cost_ns: float = 1.0, streams: bool = False) -> int:
    """Run one job over all its samples.

    Parameters
    ----------
    entry : int
        The address of the compiled code.
    args : int
        The address handed to it. What lies there is the caller's to keep alive.
    samples : int
        How many samples there are. With none the code is not called.
    grain : int
        Cuts lie at multiples of it.
    cost_ns : float
        A guess at the nanoseconds one sample takes: it decides how many threads are worth waking, and nothing else.
    streams : bool
        Whether the code may ask for more samples when its range ends.

    Returns
    -------
    int
        0, or the largest positive code a range returned. Every range has run all the same.

    Raises
    ------
    ValueError
        A number no run could make sense of.
    KeyboardInterrupt
        Ctrl-C; or whatever else a signal handler raised. Samples that were under way are left as they stood.
    RuntimeError
        The code stopped of itself, or the process is ending.
    """
    return _native.run(entry, args, samples, grain, cost_ns, streams)


def run_sequence(jobs: JobList, n: int = 1) -> Moved | Failed | None:
    """Run stages of jobs `n` times; raise what interrupted them.

    :meth:`JobList.run` is the same in fewer nanoseconds, and says where it was interrupted instead of raising.

    Returns
    -------
    Moved or Failed or None
        None when all went well.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C; or whatever else a signal handler raised.
    RuntimeError
        A job's code stopped of itself, or the process is ending.
    """
    outcome = jobs.run(n)
    if isinstance(outcome, Interrupted):
        raise outcome.error
    return outcome


def resolve(branches: int, samples: int, native: bool, threads: int) -> str:
    """Return how a stage runs, by the fixed rule: ``"branch_tasks"`` or ``"work_share"``.

    Parameters
    ----------
    branches : int
    samples : int
        Of the node that has most.
    native : bool
        Whether every node is compiled code.
    threads : int
        The size of the team.

    Returns
    -------
    str
        ``"branch_tasks"``, branches side by side, with two branches or more, two threads or more, at most
        `BRANCH_TASKS_MAX_SAMPLES` samples and nothing but compiled code; else ``"work_share"``, one node after another,
        each spread over the team.
    """
    return _native.resolve(branches, samples, native, threads)


def team_size() -> int:
    """Return how many threads a job may use, the calling thread included.

    It is fewer than what was asked for once the system has refused to start more.
    """
    return _native.team_size()


def set_team_size(size: int) -> None:
    """Change how many threads jobs may use, from the next job on.

    Parameters
    ----------
    size : int
        From 1 (the calling thread alone) to 1024.

    Raises
    ------
    ValueError
        Any other number.
    """
    _native.set_team_size(size)


def _warn_of_a_useless_setting() -> None:
    text = os.environ.get("EAGLE_NUM_THREADS")
    if text is None or (text.strip().isdecimal() and int(text) >= 1):
        return
    warnings.warn(
        f"EAGLE_NUM_THREADS={text!r} is no number from 1 on, so the {team_size()} CPUs this process may use count. "
        "Set it to a number of threads, or remove it.",
        RuntimeWarning,
        stacklevel=2,
    )


_warn_of_a_useless_setting()
