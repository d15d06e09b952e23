"""CuPy's streams."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eagle.plugin import Device, Streams

__all__ = ["CupyStreams"]


class CupyStreams(Streams):
    """The current stream of CuPy is one per thread and device; a new thread begins with the legacy default one."""

    def current(self, device: Device, /) -> int | None:
        """Return CuPy's current stream on that device."""
        return int(_cuda().get_current_stream(device[1]).ptr) if device[0] == "cuda" else None

    @contextmanager
    def use(self, device: Device, stream: int, /) -> Iterator[None]:
        """Make a stream CuPy's current one. CuPy asks that its device be current too."""
        cuda = _cuda()
        with cuda.Device(device[1]), cuda.ExternalStream(stream, device[1]):
            yield

    def handle(self, stream: object, /) -> int | None:
        """Return the handle of a ``cupy.cuda.Stream`` or ``ExternalStream``."""
        cuda = _cuda()
        return int(stream.ptr) if isinstance(stream, (cuda.Stream, cuda.ExternalStream)) else None


def _cuda() -> Any:
    import cupy

    return cupy.cuda
