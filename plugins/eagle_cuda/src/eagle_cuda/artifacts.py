"""Kernels that are machine code already: bound like any other, in graphs and in code that is captured."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any, ClassVar

from eagle.plugin import BuildError, Kernel, Launch, Memory, Node, PlaneError, adapter_of
from eagle_cuda.callers import current_stream
from eagle_cuda.device import CudaDevice, device
from eagle_cuda.driver import call
from eagle_cuda.errors import CudaError
from eagle_cuda.packing import packed
from eagle_cuda.planes import current_device, place_of

__all__ = ["ARTIFACT_DIALECT", "Artifact", "ArtifactProgram", "launch_here", "load"]

ARTIFACT_DIALECT = "cuda-artifact/1"
"""The dialect of a kernel whose code is an `Artifact`."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A kernel compiled for a device, with one thread per sample.

    Its parameters stand for the arguments of the `eagle.plugin.Kernel`, in their order: a param by value in its type; a
    plane by its address and, for vectors and matrices, the number of elements from one component to the next (64
    bits); a table by its address and the length of each axis (64 bits). The last parameter is the number of samples
    (64 bits); there may be more threads than that.

    Attributes
    ----------
    image : bytes
        A cubin, or PTX, which the driver compiles for its device.
    entry : str
        The kernel's name in it.
    threads : int
        Of a block.
    """

    image: bytes
    entry: str
    threads: int = 128


class ArtifactProgram:
    """An artifact as what a launch is lowered to. Nothing in it is known to fault, and nothing stops it."""

    can_fault: ClassVar[bool] = False
    loops_inside: ClassVar[bool] = False
    reports: ClassVar[bool] = False

    def __init__(self, kernel: Kernel, artifact: Artifact) -> None:
        self.kernel, self.artifact = kernel, artifact
        self.threads = artifact.threads
        self.arguments = kernel.arguments

    def launch_on(self, device: CudaDevice) -> Any:
        """Return its function, loaded into the device's context, which is current.

        Raises
        ------
        BuildError
            The driver does not take the image, or the entry is not in it.
        """
        return _function(device.ordinal, self.artifact)


def load(kernel: Kernel) -> None:
    """Load an artifact into the current device, so that `launch_here` can be captured.

    Raises
    ------
    BuildError
        The kernel is no artifact, or the driver does not take it.
    """
    where = device(current_device())
    with where.current():
        _program(kernel).launch_on(where)


def launch_here(bound: Any) -> None:
    """Queue one launch of a bound artifact on `eagle_cuda.current_stream`, captured or not, and do not wait for it.

    This is what a step of an `eagle.GraphPipeline` does; in an `eagle.Graph` add the bound plan itself. Load the
    kernel first, with `load`: a capture does not survive the loading of code.

    Parameters
    ----------
    bound : BoundPlan
        Of a kernel of the dialect ``"cuda-artifact/1"``.

    Raises
    ------
    BuildError
        The kernel is no artifact.
    PlaneError
        A plane is on another device than the others, or would have to be copied.
    """
    node: Node[Launch] = bound.__eagle_node__()
    launch = node.payload
    program = _program(launch.kernel)
    planes = {name: adapter_of(array).describe(array) for name, array in launch.arrays.items()}
    where = _device_of(planes)
    if launch.samples == 0:
        return
    with where.current():
        arguments = [*packed(launch.kernel.arguments, planes, launch.params), (launch.samples, ctypes.c_longlong)]
        grid = (-(-launch.samples // program.threads), 1, 1)
        values = tuple(value for value, _ in arguments), tuple(kind for _, kind in arguments)
        function, stream = program.launch_on(where), current_stream().handle
        call("cuLaunchKernel", function, *grid, program.threads, 1, 1, 0, stream, values, 0)


def _program(kernel: Kernel) -> ArtifactProgram:
    if kernel.dialect != ARTIFACT_DIALECT or not isinstance(kernel.code, Artifact):
        raise BuildError(
            f"kernel {kernel.name!r} is of dialect {kernel.dialect!r}",
            why="only compiled kernels are launched outside a graph",
            fix="Add the bound plan to an eagle.Graph.",
        )
    return ArtifactProgram(kernel, kernel.code)


def _device_of(planes: dict[str, Memory]) -> CudaDevice:
    places = {name: place_of(memory.address).ordinal for name, memory in planes.items() if 0 not in memory.shape}
    if len(set(places.values())) > 1:
        raise PlaneError("the planes are on several devices", why=f"{places}", fix="Copy them to one.", planes=places)
    return device(next(iter(places.values()), current_device()))


@functools.lru_cache(maxsize=256)
def _function(ordinal: int, artifact: Artifact) -> Any:
    try:
        return call("cuModuleGetFunction", call("cuModuleLoadData", artifact.image), artifact.entry.encode())
    except CudaError as error:
        raise BuildError(
            f"the driver does not take the compiled kernel {artifact.entry!r}",
            why=str(error),
            fix=f"Compile it for this device, which is {device(ordinal).arch}, under this name.",
        ) from error
