"""The guard that lets one caller at a time into a graph, without ever queueing a second one."""

from __future__ import annotations

import os
import threading
import weakref

from eagle.errors import Busy

__all__ = ["CallGuard"]


class CallGuard:
    """A non-blocking lock around the calls of one object.

    It is not re-entrant: a call from inside a call is refused like one from another thread. A guard that was held
    when the process forked is free in the child, where nobody is left to release it.

    Parameters
    ----------
    what : str
        What is guarded, as the message calls it: ``"Graph"``.

    Attributes
    ----------
    lock : threading.Lock
        For a path where a method call costs too much. Read it once into a local variable and release that one,
        because a fork in between replaces it.
    """

    __slots__ = ("__weakref__", "lock", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.lock = threading.Lock()
        _guards.add(self)

    def take(self) -> threading.Lock:
        """Enter, and return the lock to release when done.

        Raises
        ------
        Busy
            Another call is in flight. Nothing waits.
        """
        lock = self.lock
        if not lock.acquire(blocking=False):
            raise self.busy()
        return lock

    def busy(self) -> Busy:
        """The refusal, ready to raise."""
        return Busy(
            f"another call is still running on this {self.what}; give each thread its own {self.what}, or wait for it"
        )


_guards: weakref.WeakSet[CallGuard] = weakref.WeakSet()


def _free_in_child() -> None:
    for guard in list(_guards):
        guard.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_in_child)
