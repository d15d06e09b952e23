"""``SkipGuard``: the condition of ``skippable`` and ``repeat_while``."""

from __future__ import annotations

from operator import index as as_index
from typing import SupportsIndex

from eagle.errors import EagleError, GraphTypeError, PlaneError
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import Memory
from eagle.plugin.guards import Guard, guard_reader

__all__ = ["SkipGuard", "checked"]


class SkipGuard(Guard):
    """True when a cell of an array differs from its baseline, or from zero.

    ``skippable`` runs its step, and ``repeat_while`` goes on, while it is true. It is compared exactly, in the
    array's own dtype: 0.5 differs from zero.

    Parameters
    ----------
    array : array, shape (n,)
        Integer, bool or float, in native byte order.
    index : int
        The cell.
    baseline : array, shape (m,), optional
        Of the same dtype: compare with one of its cells instead of zero.
    negate : bool
        True when they are equal instead.
    baseline_index : int
        The cell of `baseline`.

    Raises
    ------
    PlaneError
        An array of another shape or dtype, or an index outside it.
    GraphTypeError
        An index that is no integer.
    """

    __slots__ = ()

    def __init__(
        self,
        array: object,
        index: SupportsIndex = 0,
        baseline: object = None,
        negate: bool = False,
        *,
        baseline_index: SupportsIndex = 0,
    ) -> None:
        super().__init__(
            array=array,
            index=_whole(index, "index"),
            baseline=baseline,
            baseline_index=_whole(baseline_index, "baseline_index"),
            negate=bool(negate),
        )
        memory = _cell(array, self.index, "guard")
        if baseline is None:
            return
        other = _cell(baseline, self.baseline_index, "baseline")
        if other.dtype != memory.dtype:
            raise PlaneError(
                f"the baseline of a guard is {other.dtype} and its array {memory.dtype}",
                fix="Give both the same dtype; a guard compares without converting.",
                planes=("baseline",),
            )

    @classmethod
    def nonzero(cls, flag: object, index: SupportsIndex = 0) -> SkipGuard:
        """Return the guard that is true while ``flag[index]`` is not zero."""
        return cls(flag, index)

    def negated(self) -> SkipGuard:
        """Return the guard that is true when this one is not."""
        return SkipGuard(self.array, self.index, self.baseline, not self.negate, baseline_index=self.baseline_index)

    def evaluate(self) -> bool:
        """Read the cells now, from the host.

        Raises
        ------
        PlaneError
            A cell is NaN, or the arrays cannot be read from the host.
        """
        return guard_reader(self)()


def checked(guard: object) -> Guard:
    """Return `guard` as a guard whose cells exist.

    Raises
    ------
    GraphTypeError
        It is none.
    """
    if isinstance(guard, SkipGuard):
        return guard
    if isinstance(guard, Guard):
        return SkipGuard(guard.array, guard.index, guard.baseline, guard.negate, baseline_index=guard.baseline_index)
    raise GraphTypeError(f"a conditional takes a guard, not {guard!r}", fix="Pass eagle.SkipGuard.nonzero(flag).")


def _cell(array: object, index: int, plane: str) -> Memory:
    try:
        memory = adapter_of(array).describe(array)
    except EagleError as error:
        error.locate(plane=plane)
        raise
    if len(memory.shape) != 1:
        raise PlaneError(
            f"a guard reads a cell of a 1-D array, and this one has shape {memory.shape}",
            fix="Pass array.reshape(-1), which shares its memory.",
            planes=(plane,),
        )
    if not memory.dtype.startswith(("bool", "int", "uint", "float", "bfloat")):
        raise PlaneError(
            f"a guard reads integers, bools or floats in native byte order, and this array is {memory.dtype}",
            planes=(plane,),
        )
    if not 0 <= index < memory.shape[0]:
        raise PlaneError(f"there is no element {index} in an array of {memory.shape[0]}", planes=(plane,))
    return memory


def _whole(value: object, name: str) -> int:
    try:
        return as_index(value)  # type: ignore[arg-type]
    except TypeError:
        raise GraphTypeError(f"{name} of a guard is an integer, not {value!r}") from None
