"""Ctrl-C while this process waits for the device."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["interrupted_while_waiting"]


@contextmanager
def interrupted_while_waiting() -> Iterator[pytest.ExceptionInfo[KeyboardInterrupt]]:
    """Send this process an interrupt once it waits for the device, and see it raised."""

    def send() -> None:
        while not any(thread.name == "eagle-cuda-wait" for thread in threading.enumerate()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        yield caught
    sender.join()
