"""What this machine's processor can do, as far as the shape of the code depends on it."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass

from eagle_cpu.engine.locking import llvm_lock

__all__ = ["Host", "host"]


@dataclass(frozen=True, slots=True)
class Host:
    """The processor that code is generated for.

    Attributes
    ----------
    cpu : str
        LLVM's name of it.
    features : str
        What it can do, as LLVM takes it.
    triple : str
    vector_bits : int
        The width of a native vector.
    masks : bool
        Whether it has registers for masks, and gathers by them (AVX-512).
    fused : bool
        Whether it rounds a * b + c once in hardware.
    machine : str
        ``x86_64``, ``aarch64``, ...
    """

    cpu: str
    features: str
    triple: str
    vector_bits: int
    masks: bool
    fused: bool
    machine: str


@functools.cache
def host() -> Host:
    """Return this machine's processor."""
    import llvmlite.binding as llvm

    with llvm_lock():
        offered, cpu, triple = llvm.get_host_cpu_features(), llvm.get_host_cpu_name(), llvm.get_process_triple()
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    bits, masks = 128, False
    features = offered.flatten()
    if machine == "x86_64":
        masks = all(offered.get(name, False) for name in ("avx512f", "avx512bw", "avx512dq", "avx512vl"))
        bits = 512 if masks else 256 if offered.get("avx2", False) else 128
        # Some processors are tuned for 256 bits by default; four chains of 512 are faster on all that were measured.
        features += ",-prefer-256-bit"
    fused = machine == "aarch64" or bool(offered.get("fma", False))
    return Host(cpu, features, triple, bits, masks, fused, machine)
