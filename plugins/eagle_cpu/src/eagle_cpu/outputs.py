"""Whether compiled code reads an output before it has written it: ``EAGLE_CHECK=1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eagle.graph.payloads import UntilDone
from eagle.plugin import Launch, Placed, Plane, PlaneError, host_view
from eagle_cpu.host_memory import overlap

__all__ = ["OutputCheck"]

Array = np.ndarray[Any, np.dtype[Any]]
_ONE, _OTHER = 0x5A, 0xA5  # bytes no result is likely to consist of


class OutputCheck:
    """Runs a node's compiled code several times, over outputs that hold one thing and then another.

    What the code writes must not depend on what a plane held that it only writes. Outputs that share memory with a
    plane the node reads are left out: what they hold is that plane's. Elements that are not written are left as they
    were before. A loop is run as a whole, each sample to its end, from the same state every time.

    Parameters
    ----------
    placed : Placed
    work : callable
        Runs the code once.
    """

    def __init__(self, placed: Placed[Any], work: Callable[[], object]) -> None:
        self._label = placed.label
        self._work = work
        names = _only_written(placed)
        read = [plane for plane in placed.planes if plane.access.name not in names]
        outputs = [plane for plane in placed.planes if plane.access.name in names and not _any_touches(read, plane)]
        self._names = [plane.access.name for plane in outputs]
        self._outputs = [host_view(plane.memory) for plane in outputs]
        self._changed = [host_view(plane.memory) for plane in read if plane.access.mode == "rw"]

    def __call__(self) -> None:
        """Run the code and check it.

        Raises
        ------
        PlaneError
            It reads an output before it has written it.
        Exception
            What the code's failure stands for.
        """
        before = [view.copy() for view in self._outputs]
        start = [view.copy() for view in self._changed]
        held = [_ONE] * len(before)
        untouched: dict[int, Array] = {}
        try:
            expected = self._results(held)
            for number, name in enumerate(self._names):
                for view, content in zip(self._changed, start, strict=True):
                    view[...] = content
                held = [_OTHER if other == number else _ONE for other in range(len(before))]
                now = self._results(held)
                untouched[number] = _holds(now[number], _OTHER) & _holds(expected[number], _ONE)
                if not _agree(now, expected, number, untouched[number]):
                    raise PlaneError(
                        "the code reads this output before it has written it",
                        why="its results depend on what the output held, and the node declares that it only writes it",
                        fix="Declare it as read and written ('rw'), or write it first.",
                        nodes=(self._label,),
                        planes=(name,),
                    )
        finally:
            for number, (view, old) in enumerate(zip(self._outputs, before, strict=True)):
                mask = untouched.get(number, _holds(_bytes(view), held[number])).reshape(view.shape)
                view[mask] = old[mask]

    def _results(self, held: list[int]) -> list[Array]:
        """Return the bytes of outputs and changed planes after a run that found the outputs full of those bytes."""
        for view, byte in zip(self._outputs, held, strict=True):
            view[...] = np.frombuffer(bytes([byte] * view.itemsize), view.dtype)[0]
        self._work()
        return [_bytes(view) for view in (*self._outputs, *self._changed)]


def _only_written(placed: Placed[Any]) -> set[str]:
    """Return the names of the planes whose old content means nothing to the code.

    A kernel that leaves the finished samples of a loop alone is placed as one that reads its outputs too, since those
    samples keep theirs; what it says of itself counts.
    """
    payload = placed.node.payload
    launch = payload.launch if isinstance(payload, UntilDone) else payload
    if isinstance(launch, Launch):
        return {argument.name for argument in launch.kernel.arguments if argument.mode == "w"}
    return {plane.access.name for plane in placed.planes if plane.access.mode == "w"}


def _any_touches(planes: list[Plane], output: Plane) -> bool:
    return any(overlap(plane.memory, output.memory) for plane in planes)


def _bytes(view: Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a copy as bytes, one row per element."""
    return np.frombuffer(view.tobytes(), np.uint8).reshape(-1, view.itemsize)


def _holds(elements: Array, byte: int) -> Array:
    """Which elements consist of that byte."""
    return np.asarray((elements == byte).all(axis=1))


def _agree(results: list[Array], expected: list[Array], number: int, untouched: Array) -> bool:
    """Whether all results are the same, but for the untouched elements of output `number`."""
    for at, (now, then) in enumerate(zip(results, expected, strict=True)):
        differs = (now != then).any(axis=1)
        if at == number:
            differs &= ~untouched
        if differs.any():
            return False
    return True
