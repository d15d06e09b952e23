"""Runs eagle graphs over device arrays, as captured CUDA graphs.

Kernels that are compiled ahead are made by `compile_artifact` and `compile_source`, kept by `save_artifact` and read by
`eagle.loaded.LoadedVector`.
Code that names its stream with every call, as with cuda.core, takes `current_stream` in an opaque node, and says with
`use_stream` which stream of its own launches are to be in order with. Plugins of frameworks that capture graphs look at
these with `graph_version` and `kernels_of`, and do under `apart_from_captures` what no capture survives.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_cuda.adopting import graph_version
    from eagle_cuda.artifact_files import save_artifact
    from eagle_cuda.artifacts import ARTIFACT_DIALECT, Artifact, load
    from eagle_cuda.callers import current_stream, use_stream
    from eagle_cuda.compiling import compile_artifact, compile_source
    from eagle_cuda.device_array import DeviceArray
    from eagle_cuda.kernel_nodes import kernels_of
    from eagle_cuda.launching_here import launch_here
    from eagle_cuda.lifetime import apart_from_captures

_ON_USE = {
    "ARTIFACT_DIALECT": "eagle_cuda.artifacts",
    "Artifact": "eagle_cuda.artifacts",
    "launch_here": "eagle_cuda.launching_here",
    "load": "eagle_cuda.artifacts",
    "compile_artifact": "eagle_cuda.compiling",
    "compile_source": "eagle_cuda.compiling",
    "save_artifact": "eagle_cuda.artifact_files",
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
    "compile_artifact",
    "compile_source",
    "current_stream",
    "graph_version",
    "kernels_of",
    "launch_here",
    "load",
    "save_artifact",
    "use_stream",
]


def __getattr__(name: str) -> Any:
    if name in _ON_USE:
        from importlib import import_module

        return getattr(import_module(_ON_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
