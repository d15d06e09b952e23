"""Runs eagle graphs over device arrays, as captured CUDA graphs.

Code that names its stream with every call, as with cuda.core, takes `current_stream` in an opaque node, and says with
`use_stream` which stream of its own launches are to be in order with.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_cuda.artifacts import ARTIFACT_DIALECT, Artifact, launch_here, load
    from eagle_cuda.callers import current_stream, use_stream
    from eagle_cuda.device_array import DeviceArray

_ON_USE = {
    "ARTIFACT_DIALECT": "eagle_cuda.artifacts",
    "Artifact": "eagle_cuda.artifacts",
    "launch_here": "eagle_cuda.artifacts",
    "load": "eagle_cuda.artifacts",
    "DeviceArray": "eagle_cuda.device_array",
    "current_stream": "eagle_cuda.callers",
    "use_stream": "eagle_cuda.callers",
}

__all__ = [
    "ARTIFACT_DIALECT",
    "Artifact",
    "DeviceArray",
    "current_stream",
    "launch_here",
    "load",
    "use_stream",
]


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        from importlib import import_module

        return getattr(import_module(_ON_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
