"""Waiting for a stream, so that Ctrl-C gets through."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from eagle_cuda.device import CudaDevice
from eagle_cuda.driver import call

__all__ = ["interruptibly", "wait_for"]

_GLANCE = 0.05  # seconds


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
    if interruptible:
        interruptibly(device, lambda: call("cuStreamSynchronize", stream))
    else:
        call("cuStreamSynchronize", stream)


def interruptibly(device: CudaDevice, work: Callable[[], object], end: Callable[[], object] | None = None) -> None:
    """Do something so that an interrupt of the main thread gets through: from another thread, while this one waits.

    Parameters
    ----------
    device : CudaDevice
    work : callable
    end : callable, optional
        Called on an interrupt: it has the work end soon, which is then waited for.
    """
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    failures: list[Exception] = []
    done = threading.Event()

    def wait() -> None:
        try:
            with device.current():
                work()
        except Exception as error:
            failures.append(error)
        finally:
            done.set()

    # The driver's wait cannot be interrupted; waiting for a thread can.
    waiter = threading.Thread(target=wait, name="eagle-cuda-wait", daemon=True)
    try:
        waiter.start()
        waiter.join()
    except KeyboardInterrupt:
        if end is not None:
            end()
            while not done.wait(_GLANCE) and waiter in threading.enumerate():  # it may be starting
                pass
        raise
    if failures:
        raise failures.pop()  # which would hold this frame, and that the failure
