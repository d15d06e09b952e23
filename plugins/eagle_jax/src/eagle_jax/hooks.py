"""What eagle_jax brings: JAX's arrays, and the kind of node that a JAX function is."""

from __future__ import annotations

from eagle.plugin import Framework, Lowering, NodeKind, hookimpl
from eagle_jax.payload import KIND, JaxFunction, access

EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_framework() -> Framework:
    """Return what eagle knows of JAX, which has no current stream: its work is ordered by its arrays."""
    return Framework(name="jax", needs="jax", api="eagle_jax.api", arrays="eagle_jax.arrays:JaxArrays")


@hookimpl
def register_node_kind() -> NodeKind[JaxFunction]:
    """Return the kind."""
    return NodeKind(name=KIND, access=access)


@hookimpl
def register_lowering() -> list[Lowering]:
    """Return how it runs."""
    return [
        Lowering(kind=KIND, backend="cpu", lower="eagle_jax.on_host:lower"),
        Lowering(kind=KIND, backend="gpu", lower="eagle_jax.on_device:lower"),
    ]
