"""What eagle_torch brings: tensors, streams, captured graphs, and modules as nodes."""

from __future__ import annotations

from eagle.plugin import Framework, Lowering, NodeKind, hookimpl
from eagle_torch.nodes import MODULE, access

EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_framework() -> Framework:
    """Return what eagle needs to know of torch."""
    return Framework(
        name="torch",
        needs="torch",
        arrays="eagle_torch.arrays:TorchArrays",
        streams="eagle_torch.streams:TorchStreams",
        adopt="eagle_torch.graphs:adopt",
        api="eagle_torch",
    )


@hookimpl
def register_node_kind() -> NodeKind[object]:
    """Return the kind of a module."""
    return NodeKind(name=MODULE, access=access)


@hookimpl
def register_lowering() -> list[Lowering]:
    """Return how a module runs: called by the host, captured for a GPU."""
    return [
        Lowering(kind=MODULE, backend="*", lower="eagle_torch.calling:lower"),
        Lowering(kind=MODULE, backend="gpu", lower="eagle_torch.capturing:lower"),
    ]
