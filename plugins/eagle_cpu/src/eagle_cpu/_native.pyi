"""The thread team, in C++. :mod:`eagle_cpu.team` documents the functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

# array, address, shape, strides (bytes)
_Plane: TypeAlias = tuple[np.ndarray[Any, Any], int, tuple[int, ...], tuple[int, ...]]
# entry, args, samples, grain, cost_ns, planes
_Job: TypeAlias = tuple[int, int, int, int, float, Sequence[_Plane]]

class Moved:
    """Nothing has run: a plane of a job is not where it was. Both count from 0."""

    @property
    def job(self) -> int: ...
    @property
    def plane(self) -> int: ...

class Failed:
    """The first job that failed, in the repetition that was the last one to run, and the largest of its codes."""

    @property
    def job(self) -> int: ...
    @property
    def code(self) -> int: ...
    @property
    def repetition(self) -> int: ...

class Interrupted:
    """Where a run was stopped, and what a signal handler raised."""

    @property
    def job(self) -> int: ...
    @property
    def repetition(self) -> int: ...
    @property
    def error(self) -> BaseException: ...

class JobList:
    """Jobs run one after another in one native call. Immutable, and safe to run from several threads.

    Parameters
    ----------
    jobs : sequence of (entry, args, samples, grain, cost_ns, planes)
        The first five as in :func:`eagle_cpu.team.run`. `planes` are the NumPy arrays the code was made for, each with
        the address, shape and strides (in bytes) it must have: (array, address, shape, strides). The list keeps the
        arrays alive; what lies at `args` is the caller's to keep.

    Raises
    ------
    ValueError
        A number no run could make sense of, or an array that is not where it is said to be.
    TypeError
        A plane that is no NumPy array.
    """

    def __init__(self, jobs: Sequence[_Job]) -> None: ...
    def run(self, n: int = 1) -> Moved | Failed | Interrupted | None:
        """Run all jobs `n` times without the interpreter's lock; None when all went well.

        Planes are compared once, before the first job. When a job fails the rest of that repetition still runs, and no
        repetition follows. Raises nothing but ValueError, for a negative `n`.
        """

    def moved(self) -> Moved | None:
        """Compare the planes and run nothing; None when all are in their place."""

    def __len__(self) -> int: ...

REDUCTION_BLOCK: int
"""Elements of a block: what reads a plane may be cut at multiples of it."""
REDUCTION_WIDTHS: tuple[int, ...]
"""The widths of vectors, in bytes, there is code for on this processor. They differ in speed alone."""

class Reduction:
    """The code of a reduction and what it is handed: a job over the elements, cut at multiples of `REDUCTION_BLOCK`.

    One run at a time. A job over no elements has one sample.

    Parameters
    ----------
    op : {"sum", "max", "min", "all", "any"}
    dtype : str
        NumPy's name.
    address, stride, count : int
        Of the first element; in bytes, of any sign; of elements. The memory is the caller's to keep.
    out : int
        The address of the one element that is written.
    width : int
        One of `REDUCTION_WIDTHS`; 0: the widest.

    Raises
    ------
    ValueError
        There is no such code, or a negative count.
    """

    def __init__(
        self, op: str, dtype: str, address: int, stride: int, count: int, out: int, width: int = 0
    ) -> None: ...
    @property
    def entry(self) -> int: ...
    @property
    def args(self) -> int: ...
    def reset(self) -> None:
        """Forget the blocks of a run that was interrupted."""

def run(entry: int, args: int, samples: int, grain: int, cost_ns: float) -> int: ...
def team_size() -> int: ...
def set_team_size(size: int) -> None: ...
def shut_down() -> None:
    """Join the team; jobs run on the calling thread from then on. Called at exit."""
