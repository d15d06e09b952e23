"""A guard: one cell of an array, compared with another one or with zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eagle.errors import PlaneError
from eagle.plugin.adapters import adapter_of

__all__ = ["Guard", "guard_reader"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guard:
    """True when a cell of an array differs from its baseline, or from zero.

    Attributes
    ----------
    array : object
        1-D.
    index : int
        The cell's index, not negative.
    baseline : object
        None for zero, or a 1-D array of the same dtype.
    baseline_index : int
        The index of the cell of `baseline` that is compared.
    negate : bool
        True when they are equal instead.
    """

    array: object
    index: int = 0
    baseline: object = None
    baseline_index: int = 0
    negate: bool = False


def guard_reader(guard: Guard) -> Callable[[], bool]:
    """Return a callable that reads the guard from the host, now, by the adapters of its arrays.

    It compares exactly, in the arrays' own dtype, and raises `PlaneError` when a cell is NaN, which differs from
    everything and would decide by accident.
    """
    read = adapter_of(guard.array).read
    array, index, negate = guard.array, guard.index, bool(guard.negate)
    if guard.baseline is None:

        def differs() -> bool:
            value = read(array, index)
            if value != value:
                raise _nan("guard")
            return bool(value) is not negate

        return differs

    read_baseline = adapter_of(guard.baseline).read
    baseline, baseline_index = guard.baseline, guard.baseline_index

    def differs_from_baseline() -> bool:
        value, base = read(array, index), read_baseline(baseline, baseline_index)
        if value != value:
            raise _nan("guard")
        if base != base:
            raise _nan("baseline")
        return bool(value != base) is not negate

    return differs_from_baseline


def _nan(plane: str) -> PlaneError:
    return PlaneError(
        "the cell a guard reads is NaN", why="NaN differs from everything", fix="Write a number.", planes=(plane,)
    )
