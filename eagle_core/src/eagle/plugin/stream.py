"""Streams of work on a device: what a framework says of its own, and the handle of anybody's stream object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from operator import index

from eagle.errors import GraphError, GraphTypeError, PluginError
from eagle.plugin.arrays import Device

__all__ = ["Streams", "stream_handle", "streams"]

_AS_NUMBER = "Pass the stream's handle as an integer."


class Streams(ABC):
    """The streams of one framework. A handle is the driver's, as an integer; 0 is the legacy default stream.

    A backend orders every launch against `current`: what the user queued there before is done before the launch
    starts, and what is queued there after sees its results. While it captures a callable it makes its own stream
    current through `use`, so that what the callable launches is recorded.
    """

    @abstractmethod
    def current(self, device: Device, /) -> int | None:
        """Return the handle of the stream the framework would launch on now, in this thread.

        None when it can have nothing queued on `device`: it is built without that kind of device, say.
        """

    @abstractmethod
    def use(self, device: Device, stream: int, /) -> AbstractContextManager[object]:
        """Make `stream` the current one of the framework, in this thread, for a ``with`` block."""

    def handle(self, stream: object, /) -> int | None:
        """Return the handle of a stream object of this framework; None when it is none of its own."""
        return None


def streams() -> Mapping[str, Streams]:
    """Return the streams of every framework that is imported and has some, by the framework's name.

    Nothing is imported but what a framework's plugin names as its streams.

    Raises
    ------
    PluginError
        They cannot be had, or two plugins define the framework. Leaving them out would be a race in the user's
        program, so that there is no going on without them.
    """
    from eagle.plugin.lookup import imported_frameworks, instance_of

    found = {}
    for entry in imported_frameworks(clashes=True):
        if entry.item.streams is not None:
            what = f"the streams of framework {entry.item.name!r} from {entry.owner}"
            found[entry.item.name] = instance_of(entry.item.streams, Streams, what)  # type: ignore[type-abstract]
    return found


def stream_handle(stream: object) -> int:
    """Return the driver's handle of a stream that a user named.

    Parameters
    ----------
    stream : int or object
        A handle; a stream of a framework that is imported; or an object whose ``__cuda_stream__()`` gives version and
        handle.

    Raises
    ------
    GraphTypeError
        It is none of these.
    GraphError
        A negative handle, or another version of the protocol than 0.
    """
    if isinstance(stream, bool) or stream is None:
        raise _no_stream(stream)
    for known in streams().values():
        if (handle := known.handle(stream)) is not None:
            return handle
    if (protocol := getattr(stream, "__cuda_stream__", None)) is not None and not isinstance(stream, type):
        return _by_protocol(stream, protocol() if callable(protocol) else protocol)
    try:
        handle = index(stream)  # type: ignore[arg-type]
    except TypeError:
        raise _no_stream(stream) from None
    if handle < 0:
        raise GraphError(f"the stream's handle is {handle}", fix="A handle is the driver's, an integer of 0 or more.")
    return handle


def _by_protocol(stream: object, answer: object) -> int:
    if isinstance(answer, tuple) and len(answer) == 2 and all(isinstance(part, int) for part in answer):
        version, handle = answer
        if version == 0:
            return int(handle)
        what = f"the __cuda_stream__ of a {type(stream).__name__} speaks version {version} of the protocol"
        raise GraphError(what, why="eagle speaks version 0", fix=_AS_NUMBER)
    what = f"the __cuda_stream__ of a {type(stream).__name__} gives {answer!r}"
    raise PluginError(what, why="it has to be two integers, the version of the protocol and the handle", fix=_AS_NUMBER)


def _no_stream(stream: object) -> GraphTypeError:
    return GraphTypeError(
        f"stream is {stream!r}, which eagle cannot find the handle of",
        why="it is no integer, no stream of a framework whose plugin is installed, and has no __cuda_stream__",
        fix="Pass the stream's handle as an integer, or install the eagle plugin for its library.",
    )
