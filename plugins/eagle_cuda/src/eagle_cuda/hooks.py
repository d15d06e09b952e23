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
        Lowering(kind="launch", backend="gpu", lower="eagle_cuda.launching:lower"),
        Lowering(kind="until_done", backend="gpu", lower="eagle_cuda.looping:lower"),
        Lowering(kind="begin_step", backend="gpu", lower="eagle_cuda.sample_steps:lower_begin"),
        Lowering(kind="end_step", backend="gpu", lower="eagle_cuda.sample_steps:lower_end"),
    ]


@hookimpl
def register_framework() -> list[Framework]:
    """Return the libraries that need no plugin of their own."""
    return [
        Framework(
            name="cupy",
            needs="cupy",
            arrays="eagle_cuda.cupy_arrays:CupyArrays",
            streams="eagle_cuda.cupy_streams:CupyStreams",
        ),
        Framework(name="cuda_core", needs="cuda.core", adopt="eagle_cuda.cuda_core_graphs:adopt"),
    ]
