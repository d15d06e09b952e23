"""Process-wide counts of what eagle did."""

from __future__ import annotations

import os
import threading
from collections import deque

__all__ = ["Tally", "count", "counters"]


class Tally:
    """The repetitions of one graph, counted without a lock because the graph's own guard is held while it counts."""

    __slots__ = ("launches",)

    def __init__(self) -> None:
        self.launches = 0
        _live.add(self)

    def retire(self) -> None:
        """Hand the count over when the graph is gone. It takes no lock: a garbage collection may call it anywhere."""
        _retired.append(self.launches)
        _live.discard(self)


_counts: dict[str, int] = {"captures": 0, "graph_builds": 0, "launches": 0}
_live: set[Tally] = set()
_retired: deque[int] = deque()
_lock = threading.Lock()


def counters() -> dict[str, int]:
    """Return what has been counted in this process so far.

    Returns
    -------
    dict of str to int
        ``captures`` and ``graph_builds``: how many device graphs were captured and instantiated, 0 as long as
        everything ran on the CPU. ``launches``: repetitions, the ``n`` of every `Graph.launch` and `Graph.enqueue`
        that did not raise. Plugins add names of their own. The dict is a copy.
    """
    with _lock:
        while _retired:
            _counts["launches"] += _retired.popleft()
        counts = dict(_counts)
    counts["launches"] += sum(tally.launches for tally in list(_live))
    return counts


def count(name: str, by: int = 1) -> None:
    """Add `by` to the count called `name`, which starts at 0. For backends and plugins."""
    with _lock:
        _counts[name] = _counts.get(name, 0) + by


def _remake_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_remake_lock)
