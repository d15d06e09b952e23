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

from eagle_cuda.driver import abilities

__all__ = ["interrupted_while_waiting"]

LAUNCHES = 5
SECONDS = 1.0


@contextmanager
def interrupted_while_waiting() -> Iterator[pytest.ExceptionInfo[KeyboardInterrupt]]:
    """Send this process an interrupt once it waits for the device, and see it raised.

    Where the driver has no conditional nodes, a loop that the host drives is under way after some launches.
    """
    device: Any = loaded()
    by_host, begin = not abilities().conditional_nodes, time.monotonic()

    def is_under_way() -> bool:
        if any(thread.name == "eagle-cuda-wait" for thread in threading.enumerate()):
            return True
        if getattr(device, "real", False):  # which does not count
            return by_host and time.monotonic() - begin > SECONDS
        return by_host and device.calls().get("cuGraphLaunch", 0) > LAUNCHES

    def send() -> None:
        while not is_under_way():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        yield caught
    sender.join()
