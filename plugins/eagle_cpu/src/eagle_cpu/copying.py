"""Copies in host memory."""

from __future__ import annotations

import numpy as np

from eagle.plugin import Placed, Step
from eagle_cpu.context import CpuContext

__all__ = ["lower"]


def lower(placed: Placed[object], context: CpuContext) -> Step:
    """Copy ``src`` into ``into``, element by element, any strides. Shape and dtype were compared at add."""
    planes = {plane.access.name: context.view(plane) for plane in placed.planes}
    src, into = planes["src"], planes["into"]
    return context.over_memory(placed, lambda: np.copyto(into, src, casting="no"))
