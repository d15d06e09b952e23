"""What must not happen during a capture, and what holds things of the driver until they may be destroyed."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eagle_cuda.driver import call

__all__ = ["Holdings", "apart_from_captures", "capturing", "when_nothing_is_captured"]

# Entered again by the same thread when captured code launches a graph, which the driver then refuses.
_lock = threading.RLock()
_deferred: list[Callable[[], object]] = []
_captures: list[bool] = []


@contextmanager
def capturing() -> Iterator[None]:
    """Hold off, during a capture, what would end it: other threads' launches, garbage collection, destruction.

    While a blocking stream is captured, no thread may use the legacy default stream or wait for the whole context
    (CUDA programming guide, "Prohibited and unhandled operations"), and a collection may destroy anything.
    """
    with _lock:
        collecting = gc.isenabled()
        gc.disable()
        _captures.append(collecting)
        try:
            yield
        finally:
            _captures.pop()
            if collecting:
                gc.enable()
    _run_deferred()


@contextmanager
def apart_from_captures() -> Iterator[None]:
    """Wait until no other thread of eagle captures, and keep them from it."""
    with _lock:
        yield
    _run_deferred()


def when_nothing_is_captured(destroy: Callable[[], object]) -> None:
    """Call `destroy` now, or after the capture that is in flight in any thread."""
    _deferred.append(destroy)
    _run_deferred()


class Holdings:
    """Things of the driver that one graph owns, released together, last made first."""

    def __init__(self) -> None:
        self._release: list[tuple[str, object]] = []
        self._pid = os.getpid()

    def own(self, destroy: str, handle: object) -> None:
        """Have the driver function `destroy` called with `handle` at the end."""
        self._release.append((destroy, handle))

    def release(self) -> None:
        """Destroy everything. In a forked child nothing is touched: it all belongs to the parent."""
        if os.getpid() != self._pid:
            return
        while self._release:
            destroy, handle = self._release.pop()
            try:
                call(destroy, handle)
            except Exception:
                # The driver is shutting down, or the context is lost and everything in it gone already.
                continue


def _run_deferred() -> None:
    # Whoever holds the lock looks again after giving it back, so that nothing is left behind.
    while _deferred and _lock.acquire(blocking=False):
        try:
            if _captures:
                return
            _deferred.pop(0)()
        finally:
            _lock.release()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    _deferred.clear()
    if _captures and _captures[0]:
        gc.enable()
    _captures.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
