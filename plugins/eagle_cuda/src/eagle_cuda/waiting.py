"""Waiting for a stream, so that Ctrl-C gets through."""

from __future__ import annotations

import threading
from typing import Any

from eagle_cuda.device import CudaDevice
from eagle_cuda.driver import call

__all__ = ["wait_for"]


def wait_for(device: CudaDevice, stream: Any, *, interruptible: bool) -> None:
    """Wait for everything on a stream.

    Parameters
    ----------
    device : CudaDevice
    stream : CUstream
    interruptible : bool
        Whether the work may need Ctrl-C to end: then an interrupt of the main thread is raised at once, while the work
        goes on.
    """
    if not interruptible or threading.current_thread() is not threading.main_thread():
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
    waiter.join()
    if failures:
        raise failures.pop()  # which would hold this frame, and that the failure
