"""A kernel that leaves alone what another one's mask says is finished."""

from __future__ import annotations

import functools
from dataclasses import replace

from eagle.plugin import Argument, Kernel
from eagle_ir.kernel import to_kernel
from eagle_ir.program import Function

__all__ = ["gated"]


@functools.lru_cache(maxsize=256)
def gated(kernel: Kernel) -> Kernel:
    """Return a kernel of the IR with a mask it only reads, ``"samples done"``, as `Launch.gate` asks for."""
    assert isinstance(kernel.code, Function)
    arguments = tuple(replace(one, mode="rw" if one.mode == "w" else one.mode, total=False) for one in kernel.arguments)
    gate = Argument(name="samples done", role="mask", mode="r", dtype="bool")
    return to_kernel(replace(kernel.code, arguments=(*arguments, gate)))
