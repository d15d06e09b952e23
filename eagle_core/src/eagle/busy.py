"""The guard that lets one caller at a time into a graph, without ever queueing a second one."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

from eagle.errors import Busy

__all__ = ["CallGuard"]

T = TypeVar("T")


class CallGuard:
    """Lets in one call at a time; another one is refused at once, whether from another thread or from inside.

    A call holds the guard by a token of its own in `held`. Putting it there is one atomic operation inside the ``try``
    whose ``finally`` takes it out, so that an interrupt, wherever it lands, leaves the guard free; a lock would not,
    because an interrupt can land between its acquisition and the ``try``. A guard that was held when the process
    forked is free in the child, where nobody is left to release it.

    Parameters
    ----------
    what : str
        What is guarded, as the message calls it: ``"Graph"``.

    Attributes
    ----------
    held : dict
        Empty, or the token of the call in flight under 0. A path where a method call costs too much does what `hold`
        does in its own body, on one reading of this attribute: a fork in between replaces it.
    """

    __slots__ = ("__weakref__", "held", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.held: dict[int, object] = {}
        _guards.add(self)

    def hold(self, work: Callable[[], T]) -> T:
        """Do `work` alone, and return what it returns.

        Raises
        ------
        Busy
            Another call is in flight. Nothing waits.
        """
        held, token = self.held, object()
        try:
            if held.setdefault(0, token) is not token:
                raise self.busy()
            return work()
        finally:
            if held and held[0] is token:
                del held[0]

    def busy(self) -> Busy:
        """The refusal, ready to raise."""
        return Busy(
            f"another call is still running on this {self.what}; give each thread its own {self.what}, or wait for it"
        )


_guards: weakref.WeakSet[CallGuard] = weakref.WeakSet()


def _free_in_child() -> None:
    for guard in list(_guards):
        guard.held = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_in_child)
