"""The caller's own streams: made current for captured code, and kept in order with ours."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from eagle.plugin import GraphError, stream_handle, streams
from eagle_cuda.driver import call
from eagle_cuda.lifetime import apart_from_captures, captures_here

__all__ = [
    "CurrentStream",
    "apart_if_legacy",
    "callers_streams",
    "current_stream",
    "in_line",
    "is_captured",
    "on_stream",
    "refuse_captured",
    "use_stream",
]

_LEGACY = 1  # CU_STREAM_LEGACY
_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING


class CurrentStream:
    """A stream by its handle, as cuda.core takes it: ``cuda.core.launch(eagle_cuda.current_stream(), ...)``."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of the protocol and the handle."""
        return 0, self.handle

    def __int__(self) -> int:
        return self.handle


class _Here(threading.local):
    stream: int | None = None


_here = _Here()


def current_stream() -> CurrentStream:
    """Return the stream that the code of an opaque node is to use: captured, or the one given as ``stream=``.

    Outside such code it is that of `use_stream`, else the legacy default stream.
    """
    return CurrentStream(_LEGACY if _here.stream is None else _here.stream)


@contextmanager
def use_stream(stream: object) -> Iterator[None]:
    """Work on a stream of your own: a launch in the block waits for what is queued on it, and it for the launch.

    This is for code that names its stream with every call, as with cuda.core. Libraries that have a current stream,
    such as CuPy, are kept in order without it.

    Parameters
    ----------
    stream : int or object
        A handle, or an object with ``__cuda_stream__``.
    """
    before, _here.stream = _here.stream, stream_handle(stream)
    try:
        yield
    finally:
        _here.stream = before


@contextmanager
def on_stream(device: int, stream: int) -> Iterator[None]:
    """Make a stream the current one, in every framework that is loaded."""
    before, _here.stream = _here.stream, stream
    try:
        with ExitStack() as stack:
            for theirs in streams().values():
                stack.enter_context(theirs.use(("cuda", device), stream))
            yield
    finally:
        _here.stream = before


def refuse_captured(stream: int) -> None:
    """Raise `GraphError` if somebody captures the caller's stream: a launch cannot be recorded into that."""
    if int(call("cuStreamIsCapturing", stream)):
        raise GraphError(
            "a graph of eagle cannot be launched while the caller's current stream is being captured",
            why="it orders itself against that stream, and its host nodes and conditionals cannot be captured",
            fix="Launch it before or after the capture.",
        )


def callers_streams(device: int) -> list[int]:
    """Return the handles of the streams the caller works on: that of `use_stream` and those of loaded frameworks.

    Without any it is the legacy default stream.
    """
    handles = [_here.stream, *(theirs.current(("cuda", device)) for theirs in streams().values())]
    return sorted({handle or _LEGACY for handle in handles if handle is not None}) or [_LEGACY]


def apart_if_legacy(*handles: int) -> AbstractContextManager[None]:
    """Wait for captures if one of the streams is the legacy default one, whose use no capture survives."""
    return apart_from_captures() if {0, _LEGACY} & set(handles) else nullcontext()


@contextmanager
def in_line(device: int) -> Iterator[int]:
    """Yield the stream that the caller would launch on now, for one launch in order with all the caller's streams.

    It is that of `current_stream` where one was named or is captured, else a current one of a loaded framework; one of
    them that somebody captures comes first, and what is recorded into it is in no order but that capture's.
    """
    if captures_here() and _here.stream is not None:
        yield _here.stream
        return
    handles = callers_streams(device)
    captured = [handle for handle in handles if is_captured(handle)]
    own = None if _here.stream is None else _here.stream or _LEGACY
    among = captured or handles
    chosen = own if own in among else among[0]
    others = [] if captured else [handle for handle in handles if handle != chosen]
    with apart_if_legacy(*(captured or handles)):
        for other in others:
            _wait(other, chosen)
        yield chosen
        for other in others:
            _wait(chosen, other)


def is_captured(stream: int) -> bool:
    """Whether somebody captures a stream; the legacy default one cannot be."""
    return stream not in (0, _LEGACY) and bool(int(call("cuStreamIsCapturing", stream)))


def _wait(first: int, then: int) -> None:
    """Have what is queued on a stream from now on wait for what is queued on another one by now."""
    event = call("cuEventCreate", _NO_TIMING)
    try:
        call("cuEventRecord", event, first)
        call("cuStreamWaitEvent", then, event, 0)
    finally:
        call("cuEventDestroy", event)  # which the driver does once it is over
