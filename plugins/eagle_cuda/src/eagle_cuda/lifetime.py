"""When things of the driver may be destroyed, and what holds them until then."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eagle_cuda.driver import call

__all__ = ["Holdings", "capturing", "when_nothing_is_captured"]

# Entered again by the same thread when the collector finalizes a graph in the middle of it.
_lock = threading.RLock()
_deferred: list[Callable[[], object]] = []
_state = {"captures": 0, "collecting": False}


@contextmanager
def capturing() -> Iterator[None]:
    """Hold the garbage collector off, and everything that waits for `when_nothing_is_captured`, during a capture.

    A collection in the middle of a capture may destroy what a driver refuses to destroy there, which ends the capture.
    """
    with _lock:
        if _state["captures"] == 0:
            _state["collecting"] = gc.isenabled()
            gc.disable()
        _state["captures"] += 1
    try:
        yield
    finally:
        with _lock:
            _state["captures"] -= 1
            if _state["captures"] == 0:
                if _state["collecting"]:
                    gc.enable()
                _run_deferred()


def when_nothing_is_captured(destroy: Callable[[], object]) -> None:
    """Call `destroy` now, or after the captures that are in flight in any thread."""
    with _lock:
        _deferred.append(destroy)
        if _state["captures"] == 0:
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
    while _deferred:
        _deferred.pop(0)()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    _deferred.clear()
    if _state["captures"] and _state["collecting"]:
        gc.enable()
    _state["captures"] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
