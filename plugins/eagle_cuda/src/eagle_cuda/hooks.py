"""What eagle_cuda brings: the backend ``gpu`` and its lowerings, CuPy's streams, cuda.core's graphs as children."""

from __future__ import annotations

from eagle.plugin import Backend, Framework, Lowering, hookimpl
from eagle_cuda.backend import CudaBackend

EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_backend() -> Backend:
    """Return the backend."""
    return CudaBackend()


@hookimpl
def register_lowering() -> list[Lowering]:
    """Return the lowerings that need the device itself."""
    return [
        Lowering(kind="opaque", backend="gpu", lower="eagle_cuda.opaque:lower"),
        Lowering(kind="copy", backend="gpu", lower="eagle_cuda.copying:lower"),
        Lowering(kind="reduce", backend="gpu", lower="eagle_cuda.reducing:lower"),
    ]


@hookimpl
def register_framework() -> list[Framework]:
    """Return the libraries that need no plugin of their own. CuPy's arrays are read by ``__cuda_array_interface__``."""
    return [
        Framework(name="cupy", needs="cupy", streams="eagle_cuda.cupy_streams:CupyStreams"),
        Framework(name="cuda_core", needs="cuda.core", adopt="eagle_cuda.cuda_core_graphs:adopt"),
    ]
