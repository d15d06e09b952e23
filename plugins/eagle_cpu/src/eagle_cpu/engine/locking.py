"""The one lock that guards all of LLVM."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["llvm_lock"]


class _Lock:
    """A lock that is held across `fork`: a child finds LLVM between two pieces of work, and a free lock of its own."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self.lock.acquire(),
                after_in_parent=lambda: self.lock.release(),
                after_in_child=self.renew,
            )

    def renew(self) -> None:
        self.lock = threading.RLock()


_lock = _Lock()


@contextmanager
def llvm_lock() -> Iterator[None]:
    """Hold the lock that guards LLVM."""
    with _lock.lock:
        yield
