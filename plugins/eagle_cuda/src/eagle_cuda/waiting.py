"""Waiting for a stream, and for work that launches and waits in turns, so that Ctrl-C gets through."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from eagle_cuda.device import CudaDevice
from eagle_cuda.driver import call

__all__ = ["wait_for", "whole"]


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


def whole(device: CudaDevice, work: Callable[[], object], stop: Callable[[], object]) -> None:
    """Do what an interrupt of the main thread must not cut anywhere: in another thread, for which this one waits.

    Parameters
    ----------
    device : CudaDevice
    work : callable
    stop : callable
        Called on an interrupt: it has the work end soon, at a place of its own. That is waited for, and the interrupt
        goes on.
    """
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    failures: list[Exception] = []
    claimed, over = threading.Lock(), threading.Event()

    def run() -> None:
        if not claimed.acquire(blocking=False):
            return
        try:
            with device.current():
                work()
        except Exception as error:
            failures.append(error)
        finally:
            over.set()

    try:
        threading.Thread(target=run, name="eagle-cuda-loop", daemon=True).start()
        over.wait()
    except KeyboardInterrupt:
        stop()
        if not claimed.acquire(blocking=False):  # else it has not begun, and never will
            while not over.is_set():
                with suppress(KeyboardInterrupt):
                    over.wait()
        raise
    if failures:
        raise failures.pop()  # as above
