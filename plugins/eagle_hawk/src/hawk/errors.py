"""What hawk raises: a program outside the language, and a kernel used as if it were a function."""

from __future__ import annotations

from eagle.errors import EagleError, KernelError

__all__ = ["KernelError", "KernelUseError"]


class KernelUseError(EagleError, TypeError):
    """Something of the kernel language used outside a kernel."""
