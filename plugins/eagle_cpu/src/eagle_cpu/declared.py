"""Whether nodes write what they declare, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import Memory, Placed, Plane, PlaneError, adapter_of, host_view
from eagle_cpu.host_memory import overlap

__all__ = ["DeclaredWrites"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class _Watched:
    """A plane of the graph, under the name its first node gave it, and its bytes after the last node."""

    plane: Plane
    owner: str
    view: Array
    content: bytes

    @property
    def memory(self) -> Memory:
        return self.plane.memory


class DeclaredWrites:
    """Compares the bytes of all planes of a graph before and after each node.

    Parameters
    ----------
    nodes : iterable of Placed
    """

    def __init__(self, nodes: Iterable[Placed[Any]]) -> None:
        self._nodes = tuple(nodes)
        self._found: list[tuple[str, str, str]] = []  # who wrote which plane of whom
        self._cause: Exception | None = None
        self._planes: dict[object, _Watched] = {}
        for placed in self._nodes:
            for plane in placed.planes:
                memory = plane.memory
                key = (memory.space, memory.address, memory.shape, memory.strides, memory.dtype)
                if key not in self._planes and memory.device[0] == "cpu" and memory.space == "process":
                    view = host_view(memory)
                    self._planes[key] = _Watched(plane, placed.label, view, view.tobytes())

    def watch(self, placed: Placed[Any], work: Callable[[], object]) -> None:
        """Run the work of a node, and note the planes it changed without having declared so."""
        written = [plane.memory for plane in placed.planes if plane.access.mode != "r"]
        allowed = {id(one): [m for m in written if _touch(m, one.memory)] for one in self._planes.values()}
        free = [one for one in self._planes.values() if not allowed[id(one)]]
        refused = _run_protected([one.plane.access.array for one in free], work)
        if refused is not None:
            for one in self._planes.values():
                _put_back(one.view, one.content)
            work()
        for one in self._planes.values():
            now = one.view.tobytes()
            if now != one.content and _changed_beside(one, now, allowed[id(one)]):
                self._found.append((placed.label, one.plane.access.name, one.owner))
                self._cause = self._cause or refused
            one.content = now

    def verdict(self) -> str:
        """Return what was looked at, in a sentence; raise `PlaneError` for what was found."""
        if self._found:
            raise PlaneError(
                "; ".join(
                    f"node {label!r} wrote plane {plane!r}{_of(owner, label)}, which it does not declare as written"
                    for label, plane, owner in self._found
                ),
                fix="Declare it (opaque takes writes=) or leave it alone: nodes are ordered by what they declare.",
                nodes=dict.fromkeys(label for label, _, _ in self._found),
                planes=dict.fromkeys(plane for _, plane, _ in self._found),
            ) from self._cause
        return (
            f"{len(self._nodes)} nodes wrote nothing of {len(self._planes)} planes but what they declare as written. "
            "What they read is not seen, nor what lies outside these planes, nor a write that changes nothing."
        )


def _of(owner: str, label: str) -> str:
    return "" if owner == label else f" of node {owner!r}"


def _touch(a: Memory, b: Memory) -> bool:
    return a.space == b.space and overlap(a, b)


def _changed_beside(one: _Watched, now: bytes, allowed: Sequence[Memory]) -> bool:
    """Whether a byte changed that lies in none of the planes that may have."""
    if not allowed:
        return True
    changed = np.frombuffer(now, np.uint8) != np.frombuffer(one.content, np.uint8)
    left = _addresses(one.memory)[changed]
    for memory in allowed:
        left = left[~np.isin(left, _addresses(memory))]
    return bool(left.size)


def _addresses(memory: Memory) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the address of every byte, in the order of ``tobytes``."""
    found = np.array([memory.address], np.int64)
    for count, stride in zip(memory.shape, memory.strides, strict=True):
        found = (found[:, None] + np.arange(count, dtype=np.int64) * stride).reshape(-1)
    return (found[:, None] + np.arange(memory.itemsize)).reshape(-1)


def _put_back(view: Array, content: bytes) -> None:
    if view.flags.writeable and view.tobytes() != content:
        view[...] = np.frombuffer(content, view.dtype).reshape(view.shape)


def _run_protected(arrays: Iterable[object], work: Callable[[], object]) -> Exception | None:
    """Run `work` with NumPy's arrays among `arrays` write-protected; return what ran into that, if it did."""
    try:
        with _protected(arrays) as any_protected:
            work()
    except (ValueError, TypeError) as error:
        if not any_protected or "read-only" not in str(error):
            raise
        return error
    return None


def _protectable(array: Array) -> bool:
    """Whether it can be written now, and again later: NumPy lifts protection from its own memory only."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return bool(array.flags.writeable and root.flags.owndata)


@contextmanager
def _protected(arrays: Iterable[object]) -> Iterator[bool]:
    chosen = {id(one): one for one in arrays if isinstance(one, np.ndarray) and _protectable(one)}
    # Owners last into protection and first out of it: a view of a protected array cannot be made writable again.
    views = sorted(chosen.values(), key=lambda one: -len(adapter_of(one).probed(one) or ()))
    for array in views:
        array.flags.writeable = False
    try:
        yield bool(views)
    finally:
        for array in reversed(views):
            array.flags.writeable = True
