"""What must not happen during a capture, and what holds things of the driver until they may be destroyed."""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eagle.plugin import GraphError
from eagle_cuda.driver import call

__all__ = ["Holdings", "apart_from_captures", "captures_here", "capturing", "when_nothing_is_captured"]


@contextmanager
def capturing() -> Iterator[None]:
    """Hold off, during a capture, what would end it: use of the legacy stream, garbage collection, destruction.

    Threads capture at the same time, each on a stream of its own. While a blocking stream is captured, no thread may
    use the legacy default stream or wait for the whole context (CUDA programming guide, "Prohibited and unhandled
    operations"), and a collection may destroy anything.
    """
    _traffic.begin_capture()
    try:
        yield
    finally:
        _traffic.end_capture()
        _run_deferred()


def captures_here() -> bool:
    """Whether this thread captures a graph of eagle at the moment."""
    return _traffic.captures(threading.get_ident())


@contextmanager
def apart_from_captures() -> Iterator[None]:
    """Wait until no other thread of eagle captures, and keep them from it.

    Raises
    ------
    GraphError
        This thread captures, so that it would wait for itself; or a capture of another thread does not end, which may
        be because its code waits for this thread.
    """
    _traffic.begin_apart()
    try:
        yield
    finally:
        _traffic.end_apart()


def when_nothing_is_captured(destroy: Callable[[], object]) -> None:
    """Call `destroy` now, or after the captures that are in flight in any thread."""
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


class _Traffic:
    """Threads that capture, and threads that do what no capture survives: any number of either, never both at once."""

    PATIENCE = 60.0  # seconds; captured code launches and returns

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._captures: Counter[int] = Counter()  # by thread, as the other one
        self._apart: Counter[int] = Counter()
        self._collecting = False

    def captures(self, thread: int) -> bool:
        return self._captures[thread] > 0

    def begin_capture(self) -> None:
        me = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: not self._others(self._apart, me))
            if not self._captures.total():
                self._collecting = gc.isenabled()
                gc.disable()
            self._captures[me] += 1

    def end_capture(self) -> None:
        with self._changed:
            self._leave(self._captures)
            if not self._captures.total():
                self.collect_again()

    def collect_again(self) -> None:
        if self._collecting:
            gc.enable()
        self._collecting = False

    def begin_apart(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._captures[me]:
                raise _inside_a_capture()
            if not self._changed.wait_for(lambda: not self._others(self._captures, me), self.PATIENCE):
                raise _endless_capture(self.PATIENCE)
            self._apart[me] += 1

    def begin_apart_if_free(self) -> bool:
        with self._changed:
            if self._captures.total():
                return False
            self._apart[threading.get_ident()] += 1
            return True

    def end_apart(self) -> None:
        with self._changed:
            self._leave(self._apart)

    def _leave(self, counts: Counter[int]) -> None:
        me = threading.get_ident()
        if counts[me]:  # none in a child that was forked since
            counts[me] -= 1
        if not counts[me]:
            del counts[me]
        self._changed.notify_all()

    @staticmethod
    def _others(counts: Counter[int], me: int) -> int:
        return counts.total() - counts[me]


_traffic = _Traffic()
_deferred: deque[Callable[[], object]] = deque()


def _run_deferred() -> None:
    # Whoever ends the last capture looks here after it, so that nothing is left behind.
    while _deferred and _traffic.begin_apart_if_free():
        try:
            destroy = _deferred.popleft()
        except IndexError:  # another thread took the last one
            destroy = None
        try:
            if destroy is not None:
                destroy()
        finally:
            _traffic.end_apart()


def _inside_a_capture() -> GraphError:
    return GraphError(
        "captured code launches a graph of eagle, or waits for the device",
        why="that is ordered against the legacy default stream, which nothing may use during a capture",
        fix="Do it before or after the build.",
    )


def _endless_capture(seconds: float) -> GraphError:
    return GraphError(
        f"another thread has been capturing a graph for {seconds:.0f} seconds",
        why="this launch is ordered against the legacy default stream, which no thread may use meanwhile; if the "
        "captured code waits for this thread, neither would ever go on",
        fix="Have captured code wait for no thread, or launch with another current stream than the default one.",
    )


def _after_fork() -> None:
    global _traffic
    before, _traffic = _traffic, _Traffic()
    _deferred.clear()
    before.collect_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
