"""A module on the host: a plain call."""

from __future__ import annotations

import sys
from collections.abc import Callable

from eagle.plugin import LowerContext, Placed
from eagle_torch.calls import ModuleCall
from eagle_torch.nodes import Module

__all__ = ["lower"]


def lower(placed: Placed[Module], context: LowerContext) -> Callable[[], object]:
    """Call it. Planes of other libraries are looked at before: a tensor over memory that moved would not notice."""
    call = ModuleCall(placed)
    context.keep(placed.planes)
    tensor = sys.modules["torch"].Tensor
    foreign = [
        (plane.adapter.probe, plane.access.array, plane.mark)
        for plane in placed.planes
        if not isinstance(plane.access.array, tensor)
    ]
    if not foreign:
        return call

    def run() -> None:
        for probe, array, mark in foreign:
            if probe(array) != mark:
                placed.recheck()
        call()

    return run
