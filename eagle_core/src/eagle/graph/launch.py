"""The node kind ``launch``: a kernel over the arrays it is bound to. Its access follows from the kernel's signature."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from eagle.errors import GraphError, PlaneError
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import Memory
from eagle.plugin.kernels import Argument, Launch
from eagle.plugin.nodes import Access, Node

__all__ = ["launch_access"]

_GATE = Argument(name="samples done", role="mask", mode="r", dtype="bool")


def launch_access(node: Node[Launch]) -> Iterable[Access]:
    """Yield the planes of a launch: what the kernel writes counts as written, masks included.

    Raises
    ------
    GraphError
        The kernel is a derivative.
    PlaneError
        An array was resized since it was bound, or the mask that gates the launch does not fit its samples.
    """
    launch = node.payload
    if launch.kernel.derivative:
        raise GraphError(
            f"kernel {launch.kernel.name!r} is a derivative",
            why="derivatives enter a graph only through reverse mode",
            fix="Add the plan of the kernel itself.",
        )
    gated = launch.gate is not None
    for argument in launch.kernel.arguments:
        if argument.role == "param":
            continue
        array = launch.arrays[argument.name]
        memory = _fitting(launch, argument, array)
        yield Access(
            name=argument.name,
            array=array,
            mode="rw" if gated and argument.mode == "w" else argument.mode,
            total=argument.total and not gated,
            axis=len(memory.shape) - 1 if argument.role != "table" else None,
        )
    if gated:
        _fitting(launch, _GATE, launch.gate)
        yield Access(name=_GATE.name, array=launch.gate, mode="r", axis=0)


def _fitting(launch: Launch, argument: Argument, array: object) -> Memory:
    """Return the memory of an array that still is as the kernel takes it.

    The launch was checked when it was bound; what stands here is what its code relies on to stay inside the planes.
    """
    memory = adapter_of(array).describe(array)
    if argument.role == "table":
        fits = len(memory.shape) == len(argument.shape) and memory.is_contiguous
        wanted = f"contiguous, of {len(argument.shape)} axes"
    else:
        shape = (prod(argument.shape), launch.samples) if argument.shape else (launch.samples,)
        fits = memory.shape == shape and memory.has_contiguous_rows
        wanted = f"{argument.dtype}{list(shape)}, contiguous along its samples"
    if not fits or memory.dtype != argument.dtype:
        raise PlaneError(
            f"it does not fit the {launch.samples} samples that kernel {launch.kernel.name!r} is bound to",
            why=f"it has to be {wanted}, and is {memory.dtype}{list(memory.shape)}",
            fix="Bind arrays as they are to be launched, and keep them so.",
            planes=(argument.name,),
        )
    return memory
