"""Waiting for a stream, so that Ctrl-C ends the loops that run on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from eagle_cuda.device import CudaDevice
from eagle_cuda.driver import call

__all__ = ["wait_for"]


def wait_for(device: CudaDevice, stream: Any, stop: Callable[[], object] | None) -> None:
    """Wait for everything on a stream.

    Parameters
    ----------
    device : CudaDevice
    stream : CUstream
    stop : callable or None
        Tells the work to end; called when the main thread is interrupted, which then waits for the rest. None: the
        work ends by itself.
    """
    if stop is None or threading.current_thread() is not threading.main_thread():
        call("cuStreamSynchronize", stream)
        return
    failures: list[Exception] = []

    def wait() -> None:
        try:
            with device.current():
                call("cuStreamSynchronize", stream)
        except Exception as error:
            failures.append(error)

    # The driver's wait cannot be interrupted; waiting for a thread can.
    waiter = threading.Thread(target=wait, name="eagle-cuda-wait", daemon=True)
    waiter.start()
    try:
        waiter.join()
    except KeyboardInterrupt as interrupt:
        stop()
        waiter.join()
        interrupt.add_note("the loops of the graph were stopped before their end")
        raise
    if failures:
        raise failures[0]
