"""Whether the arrays of nodes are still where they were when the nodes were added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from eagle.plugin import Placed, Plane, PlaneError
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
        known: dict[object, _NativePlane] = {}
        native: set[int] = set()  # arrays, by identity: most are planes of several nodes
        foreign: dict[Placed[Any], None] = {}
        for placed in self.nodes:
            for plane in placed.planes:
                array = plane.access.array
                if id(array) in native:
                    continue
                if _note(plane, known):
                    native.add(id(array))
                else:
                    foreign[placed] = None
        self.native, self.foreign = list(known.values()), tuple(foreign)
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


def _note(plane: Plane, known: dict[object, _NativePlane]) -> bool:
    """Take in what the plane's mark was made of; say whether native code can compare it."""
    probed = plane.adapter.probed(plane.access.array)
    if probed is None:
        return False
    array, *owners = probed
    known.setdefault(id(array), (array, plane.memory.address, plane.memory.shape, plane.memory.strides))
    for owner in owners:
        # The attribute of the base class: a subclass may have overridden it.
        address = np.ndarray.__array_interface__.__get__(owner)["data"][0]
        known.setdefault((id(owner), "owner"), (owner, address, owner.shape, None))
    return True
