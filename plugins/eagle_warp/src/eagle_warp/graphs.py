"""Graphs that Warp captured, as child graphs: on a device by the driver's handle, on the CPU by what replays them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import warp

from eagle.plugin import BuildError, ForeignGraph

__all__ = ["adopt"]


def adopt(owner: object) -> ForeignGraph | None:
    """Return the graph of a `warp.Graph`; None for anything else.

    Raises
    ------
    BuildError
        Its capture has not ended, or it was loaded from a file for a device, where Warp owns the driver's graph.
    """
    if not isinstance(owner, warp.Graph):
        return None
    if owner.device.is_cpu:
        return _on_host(owner)
    return _on_device(owner)


def _on_host(owner: Any) -> ForeignGraph:
    if _host_state(owner) is None:
        raise BuildError("the Warp graph holds no capture", fix="Call warp.capture_end() first.")
    return ForeignGraph(
        backend="cpu", graph=partial(warp.capture_launch, owner), version=lambda: _host_state(owner), keep=owner
    )


def _host_state(owner: Any) -> Hashable:
    state = getattr(owner, "apic_state", None) or getattr(owner, "_native_graph", None)
    return getattr(state, "value", state)


def _on_device(owner: Any) -> ForeignGraph:
    from eagle_cuda.adopting import graph_version  # only here: a graph on a device is built by eagle-cuda

    handle = _device_handle(owner)
    if not handle:
        raise BuildError(
            "the Warp graph has no graph of the driver",
            why="its capture has not ended, or it was loaded from a file",
            fix="Call warp.capture_end() first; replay a loaded one in an opaque with stream=.",
        )

    def version() -> Hashable:
        return graph_version(handle) if _device_handle(owner) == handle else None

    return ForeignGraph(backend="gpu", graph=handle, version=version, keep=owner)


def _device_handle(owner: Any) -> int:
    graph = getattr(owner, "graph", None)
    return int(getattr(graph, "value", graph) or 0)
