"""What eagle_cpu brings: the backend ``cpu``, and how copies and reductions run on it."""

from __future__ import annotations

from eagle.plugin import Backend, Lowering, hookimpl
from eagle_cpu.backend import CpuBackend

EAGLE_CONTRACT = (1, 0)


@hookimpl
def register_backend() -> Backend:
    """Return the backend."""
    return CpuBackend()


@hookimpl
def register_lowering() -> list[Lowering]:
    """Return the lowerings that need the memory itself."""
    return [
        Lowering(kind="copy", backend="cpu", lower="eagle_cpu.copying:lower"),
        Lowering(kind="reduce", backend="cpu", lower="eagle_cpu.reduction:lower"),
        Lowering(kind="launch", backend="cpu", lower="eagle_cpu.launching:lower_launch"),
        Lowering(kind="until_done", backend="cpu", lower="eagle_cpu.launching:lower_until_done"),
        Lowering(kind="begin_step", backend="cpu", lower="eagle_cpu.sample_steps:lower_begin"),
        Lowering(kind="end_step", backend="cpu", lower="eagle_cpu.sample_steps:lower_end"),
    ]
