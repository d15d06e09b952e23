"""What eagle_warp brings: Warp's arrays, streams and captured graphs, and the kinds of node that its kernels are."""

from __future__ import annotations

from eagle.plugin import Framework, Lowering, NodeKind, hookimpl
from eagle_warp.payload import KIND, KIND_WITH_HANDLES, WarpLaunch, access

EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_framework() -> Framework:
    """Return what eagle knows of Warp."""
    return Framework(
        name="warp",
        needs="warp",
        distribution="warp-lang",
        api="eagle_warp.api",
        arrays="eagle_warp.arrays:WarpArrays",
        streams="eagle_warp.streams:WarpStreams",
        adopt="eagle_warp.graphs:adopt",
    )


@hookimpl
def register_node_kind() -> list[NodeKind[WarpLaunch]]:
    """Return the kinds: one touches nothing but its planes, the other may reach memory through handles."""
    return [
        NodeKind(name=KIND, access=access, complete_access=True),
        NodeKind(name=KIND_WITH_HANDLES, access=access),
    ]


@hookimpl
def register_lowering() -> list[Lowering]:
    """Return how they run."""
    return [
        Lowering(kind=kind, backend=backend, lower=f"eagle_warp.lowering:lower_{backend}")
        for kind in (KIND, KIND_WITH_HANDLES)
        for backend in ("cpu", "gpu")
    ]
