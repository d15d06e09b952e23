"""A compiled kernel launched by itself, on the stream the caller works on: what a step of a pipeline does."""

from __future__ import annotations

import ctypes
from typing import Any

from eagle.plugin import Kernel, Launch, Memory, Node, PlaneError, adapter_of
from eagle_cuda.artifacts import ArtifactProgram, artifact_of, load
from eagle_cuda.callers import in_line, is_captured
from eagle_cuda.device import CudaDevice, device
from eagle_cuda.driver import call
from eagle_cuda.lifetime import captures_here
from eagle_cuda.packing import packed
from eagle_cuda.parameters import refuse_too_large
from eagle_cuda.planes import current_device, place_of, refuse_unknown

__all__ = ["launch_here"]


def launch_here(bound: Any) -> None:
    """Queue one launch of a bound artifact where the caller works, captured or not, and do not wait for it.

    This is what a step of an `eagle.GraphPipeline` does; in an `eagle.Graph` add the bound plan itself. Load the
    kernel first, with `load`: a capture does not survive the loading of code. The stream is `current_stream` in code
    that is captured and within `use_stream`, else the current one of the imported libraries, such as CuPy; of several,
    all are kept in order with the launch.

    Parameters
    ----------
    bound : BoundPlan
        Of a kernel of the dialect ``"cuda-artifact/1"``. Its arrays are to be kept until the launch is over.

    Raises
    ------
    BuildError
        The kernel is no artifact, or the driver does not take it.
    PlaneError
        A plane is not on a device, on another one than the others, or would have to be copied.
    """
    node: Node[Launch] = bound.__eagle_node__()
    launch = node.payload
    artifact = artifact_of(launch.kernel)
    if artifact is None:
        load(launch.kernel)  # which refuses it
        return
    planes = {name: adapter_of(array).describe(array) for name, array in launch.arrays.items()}
    where = _device_of(launch.kernel, planes)
    if launch.samples == 0:
        return
    arguments = packed(launch.kernel.arguments, planes, launch.params)
    refuse_too_large(launch.kernel.name, arguments, 1)
    with where.current(), in_line(where.ordinal) as stream:
        _queue(ArtifactProgram(launch.kernel, artifact), arguments, launch.samples, where, stream)


def _queue(
    program: ArtifactProgram, arguments: list[tuple[Any, Any]], samples: int, where: CudaDevice, stream: int
) -> None:
    if not program.is_on(where) and (captures_here() or is_captured(stream)):
        raise program.not_loaded(where)
    function = program.launch_on(where)
    passed = [*arguments, (samples, ctypes.c_longlong)]
    values = tuple(value for value, _ in passed), tuple(kind for _, kind in passed)
    blocks = -(-samples // program.threads)
    call("cuLaunchKernel", function, blocks, 1, 1, program.threads, 1, 1, 0, stream, values, 0)


def _device_of(kernel: Kernel, planes: dict[str, Memory]) -> CudaDevice:
    """Return the device that all planes are on; that of the current context when they hold nothing."""
    on_host = [name for name, memory in planes.items() if memory.device[0] != "cuda"]
    if on_host:
        raise PlaneError(
            f"the compiled kernel {kernel.name!r} runs on a CUDA device, and its planes "
            f"{', '.join(map(repr, on_host))} are in {planes[on_host[0]].device[0]} memory",
            fix="Pass arrays in the memory of the device, CuPy's for one.",
            planes=on_host,
        )
    places = {name: place_of(memory.address) for name, memory in planes.items() if 0 not in memory.shape}
    for name, place in places.items():
        refuse_unknown(place, name)
    ordinals = {name: place.ordinal for name, place in places.items()}
    if len(set(ordinals.values())) > 1:
        on = ", ".join(f"{name!r} on device {ordinal}" for name, ordinal in ordinals.items())
        raise PlaneError(
            f"the planes of the compiled kernel {kernel.name!r} are on several devices",
            why=on,
            fix="Copy them to one.",
            planes=ordinals,
        )
    return device(next(iter(ordinals.values()), current_device()))
