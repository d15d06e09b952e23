"""Kernels that are machine code already, or PTX: what they are, and their functions, loaded once per device."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, ClassVar

from eagle.plugin import Argument, BuildError, Kernel
from eagle_cuda.architectures import why_not_on
from eagle_cuda.device import CudaDevice, device
from eagle_cuda.driver import api, call
from eagle_cuda.errors import CudaError
from eagle_cuda.lifetime import captures_here
from eagle_cuda.packing import parameter_kinds
from eagle_cuda.parameters import check_parameters
from eagle_cuda.planes import current_device

__all__ = ["ARTIFACT_DIALECT", "Artifact", "ArtifactProgram", "artifact_of", "load"]

ARTIFACT_DIALECT = "cuda-artifact/1"
"""The dialect of a kernel whose code is an `Artifact`."""

_NO_ENTRY = 500  # CUDA_ERROR_NOT_FOUND
_NEWER_PTX = 222  # CUDA_ERROR_UNSUPPORTED_PTX_VERSION


@dataclass(frozen=True, slots=True)
class Artifact:
    """A kernel compiled for a device, with one thread per sample.

    Its parameters stand for the arguments of the `eagle.plugin.Kernel`, in their order: a param by value in its type; a
    plane by its address and, for vectors and matrices, the number of elements from one component to the next (64
    bits); a table by its address and the length of each axis (64 bits). The last parameter is the number of samples
    (64 bits); there may be more threads than that. A kernel with a mask leaves samples alone whose byte there is not 0.
    What a sample has is read before anything of it is written: an output may be the very same array as an input.

    Attributes
    ----------
    image : bytes
        A cubin, or PTX, which the driver compiles for its device.
    entry : str
        The kernel's name in it.
    threads : int
        Of a block.
    accumulates : tuple of str
        The arguments, updated ones, that each launch adds to.
    compiled_for : str
        The architecture: ``"sm_90"`` for a cubin, ``"compute_75"`` for PTX; empty when it is not known.
    compiler : str
        What made the image, for messages: ``"NVRTC 13.0"``.
    origin : str
        The file it was read from, for messages.
    """

    image: bytes
    entry: str
    threads: int = 128
    accumulates: tuple[str, ...] = ()
    compiled_for: str = ""
    compiler: str = ""
    origin: str = field(default="", compare=False)


class ArtifactProgram:
    """An artifact as what a launch is lowered to. Nothing in it is known to fault, and nothing stops it."""

    can_fault: ClassVar[bool] = False
    loops_inside: ClassVar[bool] = False
    reports: ClassVar[bool] = False

    def __init__(self, kernel: Kernel, artifact: Artifact) -> None:
        self.kernel, self.artifact = kernel, artifact
        self.threads = artifact.threads
        self.arguments = kernel.arguments

    def is_on(self, device: CudaDevice) -> bool:
        """Whether it is loaded into the device's context."""
        return self._key(device) in _functions

    def launch_on(self, device: CudaDevice) -> Any:
        """Return its function, loaded into the device's context, which is current.

        Raises
        ------
        BuildError
            The driver does not take the image, the entry is not in it or takes other parameters, or this thread
            captures a graph and the image is not loaded yet.
        """
        key = self._key(device)
        if (function := _functions.get(key)) is None:
            if captures_here():
                raise self.not_loaded(device)
            function = self._load(device)
            self._check(function, device)
            function = _functions.setdefault(key, function)
        return function

    def not_loaded(self, device: CudaDevice) -> BuildError:
        """Return the refusal to load it during a capture."""
        return BuildError(
            f"{self._name} is not loaded on device {device.ordinal}, and a launch of it is being captured",
            why="no capture survives the loading of code",
            fix="Load it before: make the LoadedVector, or call eagle_cuda.load, while that device is current.",
        )

    def _key(self, device: CudaDevice) -> tuple[int, Artifact, tuple[Argument, ...]]:
        """Return what its function is known by, the arguments it was checked against among it."""
        return device.ordinal, self.artifact, self.arguments

    def _load(self, device: CudaDevice) -> Any:
        reason = why_not_on(self.artifact.compiled_for, device.arch)
        if reason is not None:
            raise BuildError(
                f"{self._name} does not run on device {device.ordinal}",
                why=reason,
                fix=f"Compile it for {device.arch}, or as PTX for an architecture that is no newer.",
            )
        try:
            module = call("cuModuleLoadData", self.artifact.image)
            return call("cuModuleGetFunction", module, self.artifact.entry.encode())
        except CudaError as error:
            raise self._refused(error, device) from error

    def _refused(self, error: CudaError, device: CudaDevice) -> BuildError:
        by = self.artifact.compiler or "its compiler"
        why, fix = {
            _NO_ENTRY: (
                f"there is no kernel {self.artifact.entry!r} in it ({error})",
                'Name the entry as it is in the image; extern "C" keeps it as the source has it.',
            ),
            _NEWER_PTX: (
                f"its PTX, made by {by}, is newer than the driver, which is for CUDA {device.abilities.cuda} ({error})",
                "Update the driver, or compile it with a CUDA that is no newer than that.",
            ),
        }.get(error.code, (str(error), f"Compile it for this device, which is {device.arch}."))
        return BuildError(f"the driver does not take {self._name}", why=why, fix=fix)

    def _check(self, function: Any, device: CudaDevice) -> None:
        kinds = [*parameter_kinds(self.arguments), ctypes.c_longlong]
        check_parameters(function, kinds, device.abilities, self._name)
        most = int(call("cuFuncGetAttribute", _most_threads(), function))
        if self.threads > most:
            raise BuildError(
                f"{self._name} is to run with {self.threads} threads in a block",
                why=f"as it was compiled, device {device.ordinal} runs {most} of them at most",
                fix="State fewer threads, or compile it with __launch_bounds__.",
            )

    @property
    def _name(self) -> str:
        where = f" of {self.artifact.origin}" if self.artifact.origin else ""
        return f"the compiled kernel {self.kernel.name!r}{where}"


_functions: dict[tuple[int, Artifact, tuple[Argument, ...]], Any] = {}


def artifact_of(kernel: Kernel) -> Artifact | None:
    """Return the artifact that a kernel of the dialect ``"cuda-artifact/1"`` is, None for any other kernel."""
    return kernel.code if kernel.dialect == ARTIFACT_DIALECT and isinstance(kernel.code, Artifact) else None


def load(kernel: Kernel) -> None:
    """Load an artifact into the current device, so that its launches can be captured.

    Raises
    ------
    BuildError
        The kernel is no artifact, or the driver does not take it.
    """
    artifact = artifact_of(kernel)
    if artifact is None:
        raise BuildError(
            f"kernel {kernel.name!r} is of dialect {kernel.dialect!r}",
            why="only compiled kernels are loaded and launched outside a graph",
            fix="Add the bound plan to an eagle.Graph, or compile it with eagle_cuda.compile_artifact.",
        )
    where = device(current_device())
    with where.current():
        ArtifactProgram(kernel, artifact).launch_on(where)


def _most_threads() -> Any:
    return api().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
