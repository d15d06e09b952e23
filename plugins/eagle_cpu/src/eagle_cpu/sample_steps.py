"""What a loop of several nodes does before and after each step, where steps are counted or states looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.graph.payloads import SampleStep
from eagle.plugin import Placed, Step
from eagle_cpu.context import CpuContext

__all__ = ["lower_begin", "lower_end"]


def lower_begin(placed: Placed[SampleStep], context: CpuContext) -> Step:
    """Note which samples run in this step, and count it for them."""
    views = _views(placed, context)
    mask, running, steps = views["mask"], views["running"], views.get("steps")

    def begin() -> None:
        np.logical_not(mask, out=running)
        if steps is not None:
            np.add(steps, 1, out=steps, where=running)

    return context.over_memory(placed, begin)


def lower_end(placed: Placed[SampleStep], context: CpuContext) -> Step:
    """End the samples of this step whose state is no number any more."""
    views = _views(placed, context)
    mask, running, failed = views["mask"], views["running"], views["failed"]
    states = [view for name, view in views.items() if name.startswith("state ")]

    def end() -> None:
        for state in states:
            bad = ~np.isfinite(state)
            np.logical_or(failed, running & (bad if bad.ndim == 1 else bad.any(axis=0)), out=failed)
        np.logical_or(mask, failed, out=mask)

    return context.over_memory(placed, end)


def _views(placed: Placed[Any], context: CpuContext) -> dict[str, np.ndarray[Any, Any]]:
    return {plane.access.name: context.view(plane) for plane in placed.planes}
