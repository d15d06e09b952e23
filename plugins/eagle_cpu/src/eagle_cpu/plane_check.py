"""Whether the arrays of nodes are still where they were when the nodes were added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from eagle.plugin import Placed, Plane, PlaneError
from eagle.plugin.numpy_arrays import NumPyArrays, address_of, owners
from eagle_cpu.team import JobList

__all__ = ["PlaneCheck"]

_NativePlane = tuple[np.ndarray[Any, Any], int, tuple[int, ...], tuple[int, ...] | None]


class PlaneCheck:
    """Checks the planes of some nodes when called: NumPy's arrays in nanoseconds each, others by their adapter.

    Parameters
    ----------
    nodes : iterable of Placed
        Their planes are where they should be now.

    Attributes
    ----------
    nodes : tuple of Placed
    native : list
        NumPy's arrays, and those they are views of, each once, as a `JobList` takes them.
    foreign : tuple of Placed
        The nodes with a plane of another library.
    """

    def __init__(self, nodes: Iterable[Placed[Any]]) -> None:
        self.nodes = tuple(nodes)
        self.native = list(_native_planes(self.nodes))
        self.foreign = tuple(placed for placed in self.nodes if not all(map(_of_numpy, placed.planes)))
        self._moved = JobList([], self.native).moved

    def __call__(self) -> None:
        """Raise `PlaneError`, naming node and plane, if an array moved."""
        if self._moved() is not None:
            self.refuse()
        for placed in self.foreign:
            placed.recheck()

    def refuse(self) -> NoReturn:
        """Raise the `PlaneError` for an array that moved."""
        for placed in self.nodes:
            placed.recheck()
        raise PlaneError(
            "an array moved while it was looked at",
            why="another thread resizes it",
            fix="Leave the arrays of a graph alone while it is launched.",
        )


def _of_numpy(plane: Plane) -> bool:
    return type(plane.adapter) is NumPyArrays


def _native_planes(nodes: Iterable[Placed[Any]]) -> Iterable[_NativePlane]:
    seen: set[int] = set()
    for placed in nodes:
        for plane in filter(_of_numpy, placed.planes):
            array: np.ndarray[Any, Any] = plane.access.array  # type: ignore[assignment]
            if id(array) not in seen:
                seen.add(id(array))
                yield array, plane.memory.address, plane.memory.shape, plane.memory.strides
            for owner in owners(array):
                if id(owner) not in seen:
                    seen.add(id(owner))
                    yield owner, address_of(owner), owner.shape, None
