"""A function as a kernel of the contract."""

from __future__ import annotations

from eagle.plugin import Kernel
from eagle_ir.printer import fingerprint
from eagle_ir.program import DIALECT, Function

__all__ = ["to_kernel"]


def to_kernel(function: Function, *, derivative: bool = False) -> Kernel:
    """Return `function` with its signature and fingerprint, as the core and the backends take it."""
    return Kernel(
        name=function.name,
        arguments=function.arguments,
        dialect=DIALECT,
        code=function,
        fingerprint=fingerprint(function),
        derivative=derivative,
    )
