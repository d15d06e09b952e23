"""Runs eagle graphs over device arrays, as captured CUDA graphs.

Code that names its stream with every call, as with cuda.core, takes `current_stream` in an opaque node, and says with
`use_stream` which stream of its own launches are to be in order with. Plugins of frameworks that capture graphs look at
these with `graph_version` and `kernels_of`, and do under `apart_from_captures` what no capture survives.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_cuda.adopting import graph_version
    from eagle_cuda.artifacts import ARTIFACT_DIALECT, Artifact, launch_here, load
    from eagle_cuda.callers import current_stream, use_stream
    from eagle_cuda.device_array import DeviceArray
    from eagle_cuda.kernel_nodes import kernels_of
    from eagle_cuda.lifetime import apart_from_captures

_ON_USE = {
    "ARTIFACT_DIALECT": "eagle_cuda.artifacts",
    "Artifact": "eagle_cuda.artifacts",
    "launch_here": "eagle_cuda.artifacts",
    "load": "eagle_cuda.artifacts",
    "DeviceArray": "eagle_cuda.device_array",
    "apart_from_captures": "eagle_cuda.lifetime",
    "current_stream": "eagle_cuda.callers",
    "graph_version": "eagle_cuda.adopting",
    "kernels_of": "eagle_cuda.kernel_nodes",
    "use_stream": "eagle_cuda.callers",
}

__all__ = [
    "ARTIFACT_DIALECT",
    "Artifact",
    "DeviceArray",
    "apart_from_captures",
    "current_stream",
    "graph_version",
    "kernels_of",
    "launch_here",
    "load",
    "use_stream",
]


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        from importlib import import_module

        return getattr(import_module(_ON_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
