"""The contract: what a plugin imports, and nothing else of eagle.

A **kind** says which memory a node touches; a **lowering** says how one kind runs on one backend, by calling its
context; a **backend** turns a frozen `Blueprint` into an `Executable`; a **framework** brings arrays, streams and
graphs captured elsewhere. A plugin is a module named by an entry point in the group ``eagle.v1`` that states
``EAGLE_CONTRACT`` and marks one or more of the four hooks with `hookimpl`.
"""

from typing import TYPE_CHECKING, Any

from eagle.errors import (
    BackendUnavailable,
    BuildError,
    Busy,
    EagleError,
    GraphError,
    GraphTypeError,
    KernelError,
    PlaneError,
    PlaneTypeError,
    PluginError,
    PluginWarning,
    RaceError,
)
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import ArrayAdapter, Device, Memory, host_view
from eagle.plugin.backend import Backend, Executable
from eagle.plugin.blueprint import Blueprint, Placed, Plane
from eagle.plugin.contract import CONTRACT, GROUP
from eagle.plugin.counters import count
from eagle.plugin.guards import Guard, guard_reader
from eagle.plugin.kernels import Argument, Kernel, Launch
from eagle.plugin.lookup import backends, frameworks, kinds, lowerings
from eagle.plugin.lowering import LowerContext, Lowering, Step
from eagle.plugin.nodes import Access, Body, Mode, Node, NodeKind
from eagle.plugin.registry import plugins, refresh, register

if TYPE_CHECKING:
    from eagle.plan import Plan
    from eagle.plugin.array_protocols import CudaInterfaceArrays
    from eagle.plugin.cache import cache_dir
    from eagle.plugin.framework import ForeignGraph, Framework
    from eagle.plugin.hookspecs import hookimpl
    from eagle.plugin.status import PluginStatus
    from eagle.plugin.stream import Streams, stream_handle, streams

# What only plugins need is imported when asked for: `import eagle` is paid by everyone.
_ON_USE = {
    "CudaInterfaceArrays": "eagle.plugin.array_protocols",
    "cache_dir": "eagle.plugin.cache",
    **dict.fromkeys(("ForeignGraph", "Framework"), "eagle.plugin.framework"),
    "Plan": "eagle.plan",
    "PluginStatus": "eagle.plugin.status",
    "hookimpl": "eagle.plugin.hookspecs",
    **dict.fromkeys(("Streams", "stream_handle", "streams"), "eagle.plugin.stream"),
}


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        from importlib import import_module

        return getattr(import_module(_ON_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CONTRACT",
    "GROUP",
    # nodes
    "Access",
    "Body",
    "Mode",
    "Node",
    "NodeKind",
    # arrays
    "ArrayAdapter",
    "CudaInterfaceArrays",
    "Device",
    "Memory",
    "adapter_of",
    "host_view",
    # what a backend is given
    "Blueprint",
    "Placed",
    "Plane",
    # lowering
    "Guard",
    "LowerContext",
    "Lowering",
    "Step",
    "guard_reader",
    # kernels
    "Argument",
    "Kernel",
    "Launch",
    "Plan",
    # backends and frameworks
    "Backend",
    "Executable",
    "ForeignGraph",
    "Framework",
    "Streams",
    # registration and queries
    "PluginStatus",
    "backends",
    "cache_dir",
    "count",
    "frameworks",
    "hookimpl",
    "kinds",
    "lowerings",
    "plugins",
    "refresh",
    "register",
    "stream_handle",
    "streams",
    # errors
    "BackendUnavailable",
    "BuildError",
    "Busy",
    "EagleError",
    "GraphError",
    "GraphTypeError",
    "KernelError",
    "PlaneError",
    "PlaneTypeError",
    "PluginError",
    "PluginWarning",
    "RaceError",
]
