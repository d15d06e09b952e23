"""The thread team, in C++. :mod:`eagle_cpu.team` documents the functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

# array, address, shape, strides (bytes; None: any)
_Plane: TypeAlias = tuple[np.ndarray[Any, Any], int, tuple[int, ...], tuple[int, ...] | None]
# entry, args, samples, grain, cost_ns
_Job: TypeAlias = tuple[int, int, int, int, float]

BRANCH_TASKS_MAX_SAMPLES: int

class Moved:
    """Nothing has run: a plane, counted from 0, is not where it was."""

    @property
    def plane(self) -> int: ...

class Failed:
    """The lowest job that failed, in the repetition that was the last one to run, and the largest of its codes."""

    @property
    def job(self) -> int: ...
    @property
    def code(self) -> int: ...
    @property
    def repetition(self) -> int: ...

class Interrupted:
    """Where a run was stopped, and what a signal handler raised.

    Of branches side by side, `job` is the lowest of their first ones.
    """

    @property
    def job(self) -> int: ...
    @property
    def repetition(self) -> int: ...
    @property
    def error(self) -> BaseException: ...

class JobList:
    """Jobs run in one native call, many times. Immutable, and safe to run from several threads.

    Parameters
    ----------
    jobs : sequence of (entry, args, samples, grain, cost_ns)
        As in :func:`eagle_cpu.team.run`. What lies at `args` is the caller's to keep alive.
    planes : sequence of (array, address, shape, strides)
        The NumPy arrays the code was made for, each with the address, shape and strides (in bytes; None: any) it must
        have. The list keeps them alive.
    stages : sequence of sequences of sequences of int, optional
        The jobs of each branch of each stage, by their place in `jobs`. Stages run one after another; the branches of
        one side by side, each branch's jobs in order on one thread; a job that is a stage by itself is spread over the
        team. By default every job is.

    Raises
    ------
    ValueError
        A number no run could make sense of, an array that is not where it is said to be, or stages that do not name
        every job once.
    TypeError
        A plane that is no NumPy array.
    """

    def __init__(
        self,
        jobs: Sequence[_Job],
        planes: Sequence[_Plane] = (),
        stages: Sequence[Sequence[Sequence[int]]] | None = None,
    ) -> None: ...
    def run(self, n: int = 1) -> Moved | Failed | Interrupted | None:
        """Run all stages `n` times without the interpreter's lock; None when all went well.

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
    def take(self) -> int:
        """What code that makes the elements calls behind each block, with `args`, the lanes and the block's number."""

    @property
    def args(self) -> int: ...
    def reset(self) -> None:
        """Forget the blocks of a run that was interrupted."""

def run(entry: int, args: int, samples: int, grain: int, cost_ns: float, streams: bool = False) -> int: ...
def team_size() -> int: ...
def set_team_size(size: int) -> None: ...
def resolve(branches: int, samples: int, native: bool, threads: int) -> str: ...
def tiles_entry() -> int:
    """Return the address of the ``eagle_entry`` that runs several for each tile of samples (``eagle/exec/tiles.h``)."""

def copy_entry() -> int:
    """Return the address of the ``eagle_entry`` that copies elements (``eagle/exec/copy.h``)."""

def shut_down() -> None:
    """Join the team; jobs run on the calling thread from then on. Called at exit."""
