"""Warp's streams: one is current on each device, for all threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import warp

from eagle.plugin import Device, Streams

__all__ = ["WarpStreams"]


class WarpStreams(Streams):
    """The current stream of a device of Warp's. `use` lets one thread in at a time, because there is but one."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.RLock()
        self._lent: dict[int, tuple[int, int]] = {}  # by device: the thread that uses it, and its stream before
        self._named: WeakValueDictionary[tuple[int, int], Any] = WeakValueDictionary()
        self._wrapped: dict[tuple[int, int], Any] = {}

    def current(self, device: Device, /) -> int | None:
        """Return Warp's current stream on that device; None before Warp was first used, and for a device it has not.

        In another thread than the one inside `use`, it is the stream that was current before.
        """
        if device[0] != "cuda" or not _initialised():
            return None
        lent = self._lent.get(device[1])
        if lent is not None and lent[0] != threading.get_ident():
            return lent[1]
        found = _device(device)
        return None if found is None else _handle(found.stream)

    @contextmanager
    def use(self, device: Device, stream: int, /) -> Iterator[None]:
        """Make a stream Warp's current one, and its device the default one."""
        warp.init()
        found = _device(device)
        if found is None:
            yield
            return
        with self._one_at_a_time:
            outermost = device[1] not in self._lent
            if outermost:
                self._lent[device[1]] = threading.get_ident(), _handle(found.stream)
            try:
                # Without its synchronisation: a stream that is captured may not wait for one that is not.
                with warp.ScopedStream(self._stream(found, device[1], stream), sync_enter=False):
                    yield
            finally:
                if outermost:
                    del self._lent[device[1]]

    def handle(self, stream: object, /) -> int | None:
        """Return the handle of a `warp.Stream`."""
        if not isinstance(stream, warp.Stream):
            return None
        handle = _handle(stream)
        self._named[stream.device.ordinal, handle] = stream
        return handle

    def _stream(self, found: Any, ordinal: int, handle: int) -> Any:
        """Return the stream of Warp's that has a handle, else one made of it, which is kept.

        Warp keeps what it knows of a stream by its handle, and forgets it once an object made of the handle goes.
        """
        own = self._named.get((ordinal, handle))
        if own is None and _handle(found.stream) == handle:
            own = found.stream
        if own is not None:
            return own
        if (ordinal, handle) not in self._wrapped:
            self._wrapped[ordinal, handle] = warp.Stream(found, cuda_stream=handle)
        return self._wrapped[ordinal, handle]


def _initialised() -> bool:
    context = sys.modules.get("warp._src.context") or sys.modules.get("warp.context")
    return getattr(context, "runtime", None) is not None


def _device(device: Device) -> Any:
    """Return Warp's object for a device, or None where it has none: built without CUDA, say."""
    try:
        return warp.get_device(f"cuda:{device[1]}")
    except (ValueError, RuntimeError):
        return None


def _handle(stream: Any) -> int:
    return int(stream.cuda_stream or 0)
