"""What eagle_cuda brings: the backend ``gpu``, and how opaque nodes and copies run on it."""

from __future__ import annotations

from eagle.plugin import Backend, Lowering, hookimpl
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
    ]
