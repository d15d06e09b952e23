"""A kernel of the IR as functions of a device: written, compiled and loaded when first wanted."""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from eagle.plugin import Argument, BuildError, Kernel
from eagle_cuda.artifacts import ARTIFACT_DIALECT, ArtifactProgram, artifact_of
from eagle_cuda.device import CudaDevice
from eagle_cuda.modules import compile_ahead, function_of
from eagle_cuda.planes import current_device
from eagle_cuda.writer import LAUNCH, LOOP, Signature, launch_source, loop_source
from eagle_ir import DIALECT, Function, While
from eagle_ir.walking import faulting, instructions

__all__ = ["Program", "launch_program", "prepare", "program_for"]


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel in CUDA C++.

    Attributes
    ----------
    kernel : Kernel
    signature : Signature
    threads : int
        Of a block.
    reports : bool
        Whether it takes where to note faults and to look for a stop, behind the number of samples.
    """

    kernel: Kernel
    signature: Signature
    threads: int = 128
    reports: bool = True

    @property
    def function(self) -> Function:
        """Its body."""
        return self.signature.function

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What it is passed."""
        return self.function.arguments

    @property
    def can_fault(self) -> bool:
        """Whether a sample can fault in it."""
        return bool(faulting(self.function.body))

    @property
    def loops_inside(self) -> bool:
        """Whether one step may take any time, so that the host must be able to stop it."""
        return any(isinstance(one, While) for one in instructions(self.function.body))

    @property
    def finishes(self) -> bool:
        """Whether it has a mask that it writes."""
        return self.signature.mask is not None and self.signature.mask.mode != "r"

    def text(self, name: str) -> str:
        """Return the CUDA C++ of `LAUNCH` or `LOOP`."""
        return _text(self.kernel, name)

    def launch_on(self, device: CudaDevice) -> Any:
        """Return the kernel that makes one step, loaded into the device's context, which is current."""
        return function_of(device.ordinal, self.text(LAUNCH), LAUNCH)

    def loop_on(self, device: CudaDevice) -> Any:
        """Return the kernel that runs samples to their end, likewise."""
        return function_of(device.ordinal, self.text(LOOP), LOOP)


def launch_program(kernel: Kernel) -> Program | ArtifactProgram:
    """Return what makes one step of a kernel of the IR, or of one compiled already. Raises as `program_for`."""
    artifact = artifact_of(kernel)
    return program_for(kernel) if artifact is None else ArtifactProgram(kernel, artifact)


def program_for(kernel: Kernel) -> Program:
    """Return the program of a kernel of the IR.

    Raises
    ------
    BuildError
        The kernel is of a dialect that is not lowered here.
    """
    if kernel.dialect != DIALECT or not isinstance(kernel.code, Function):
        raise BuildError(
            f"kernel {kernel.name!r} is of dialect {kernel.dialect!r}",
            why=f"backend 'gpu' compiles {DIALECT!r} and launches {ARTIFACT_DIALECT!r}",
            fix="Deploy it for a backend that takes this dialect.",
        )
    return Program(kernel, Signature(kernel.code))


def prepare(kernel: Kernel) -> None:
    """Compile a kernel for the current device: its loop, if it has one.

    Other dialects, and what no compiler takes, are left to the build: the kernel may be for another backend.
    """
    if kernel.dialect == DIALECT:
        program = program_for(kernel)
        with suppress(BuildError):
            compile_ahead(current_device(), program.text(LOOP if program.finishes else LAUNCH))


@functools.lru_cache(maxsize=1024)
def _text(kernel: Kernel, name: str) -> str:
    assert isinstance(kernel.code, Function)
    return {LAUNCH: launch_source, LOOP: loop_source}[name](kernel.code)
