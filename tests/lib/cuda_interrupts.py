"""Ctrl-C while this process waits for the device, or goes on launching what it drives itself."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cuda_emulator import loaded

__all__ = ["interrupted_while_waiting"]

LAUNCHES = 5
SECONDS = 1.0


@contextmanager
def interrupted_while_waiting() -> Iterator[pytest.ExceptionInfo[KeyboardInterrupt]]:
    """Send this process an interrupt once it waits for the device, and see it raised.

    A loop that the host drives, because the driver has no conditional nodes, is interrupted after some launches.
    """
    device: Any = loaded()
    begin = time.monotonic()

    def is_under_way() -> bool:
        names = {thread.name for thread in threading.enumerate()}
        if "eagle-cuda-loop" not in names:
            return "eagle-cuda-wait" in names
        if getattr(device, "real", False):  # which does not count
            return time.monotonic() - begin > SECONDS
        return bool(device.calls().get("cuGraphLaunch", 0) > LAUNCHES)

    def send() -> None:
        while not is_under_way():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        yield caught
    sender.join()
