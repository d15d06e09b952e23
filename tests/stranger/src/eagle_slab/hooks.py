"""What this distribution brings to eagle."""

from __future__ import annotations

from typing import Any

from eagle.plugin import Backend, Framework, Lowering, NodeKind, hookimpl
from eagle_slab import kinds
from eagle_slab.backend import SlabBackend

EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_node_kind() -> list[NodeKind[Any]]:
    return [
        NodeKind(name="eagle_slab.scale", access=kinds.scale_access, complete_access=True),
        NodeKind(name="eagle_slab.scale_twice", access=kinds.scale_twice_access, complete_access=True),
        NodeKind(name="eagle_slab.times", access=lambda node: (), bodies=kinds.times_bodies, complete_access=True),
    ]


@hookimpl
def register_lowering() -> list[Lowering]:
    return [
        Lowering(kind="eagle_slab.scale", backend="slab", lower=kinds.scale_on_slab),
        Lowering(kind="eagle_slab.scale", backend="cpu", lower=kinds.scale_on_cpu),
        Lowering(kind="eagle_slab.scale_twice", backend="*", lower=kinds.scale_twice_anywhere),
        Lowering(kind="eagle_slab.times", backend="*", lower=kinds.times_anywhere),
        Lowering(kind="copy", backend="slab", lower="eagle_slab.lowerings:lower_copy"),
        Lowering(kind="reduce", backend="slab", lower="eagle_slab.lowerings:lower_reduce"),
    ]


@hookimpl
def register_backend() -> Backend:
    return SlabBackend()


@hookimpl
def register_framework() -> Framework:
    return Framework(name="slab", needs="eagle_slab.memory", arrays="eagle_slab.memory:SlabArrays")
