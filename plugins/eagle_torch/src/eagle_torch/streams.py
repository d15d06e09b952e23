"""torch's streams, and what may not be allocated while code is recorded on one of ours."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eagle.plugin import BuildError, Device, Streams

__all__ = ["TorchStreams"]


class TorchStreams(Streams):
    """The current stream of torch is one per thread and device."""

    def current(self, device: Device, /) -> int | None:
        """Return torch's current stream on that device; None while torch has not touched a device in this process."""
        cuda = _cuda()
        if device[0] != "cuda" or not cuda.is_initialized():
            return None
        return int(cuda.current_stream(device[1]).cuda_stream)

    @contextmanager
    def use(self, device: Device, stream: int, /) -> Iterator[None]:
        """Make a stream torch's current one, and refuse memory that recorded code would lose.

        torch allows allocations while it records, and takes the memory for the stream of the recording; once that
        is over, the memory goes to whoever asks next, while the recorded kernels still write it. So allocations in
        this thread go to a pool of their own, and there must be none.

        Raises
        ------
        BuildError
            Code that was recorded allocated memory.
        """
        cuda = _cuda()
        if device[0] != "cuda" or not _built():
            yield
            return
        with cuda.stream(cuda.ExternalStream(stream, device=device[1])):
            if not cuda.is_current_stream_capturing():
                _here.held.clear()
                yield
                return
            pool = _here.pools.pop(device[1], None) or cuda.MemPool()
            _here.held.append(pool)  # taken apart when nothing is recorded: that frees memory
            with cuda.use_mem_pool(pool, device[1]):
                yield
            if pool.snapshot():
                raise BuildError(
                    "its code allocates memory of torch while it is recorded",
                    why="the memory would be given to somebody else, and replays would still write it",
                    fix="Write into tensors made before, with out= or copy_; a whole model is a node by "
                    "eagle.frameworks.torch.module, which keeps its memory.",
                )
            _here.held.remove(pool)
            _here.pools[device[1]] = pool

    def handle(self, stream: object, /) -> int | None:
        """Return the handle of a ``torch.cuda.Stream`` or ``ExternalStream``."""
        return int(stream.cuda_stream) if isinstance(stream, _cuda().Stream) else None


class _Here(threading.local):
    """The pools of a thread: empty ones by device, for the next recording, and those that code allocated from."""

    def __init__(self) -> None:
        self.pools: dict[int, Any] = {}
        self.held: list[Any] = []


_here = _Here()


def _cuda() -> Any:
    return sys.modules["torch"].cuda


def _built() -> bool:
    return bool(sys.modules["torch"].backends.cuda.is_built())
