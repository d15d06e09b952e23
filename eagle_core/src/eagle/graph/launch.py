"""The node kind ``launch``: a kernel over the arrays it is bound to. Its access follows from the kernel's signature."""

from __future__ import annotations

from collections.abc import Iterable

from eagle.errors import GraphError
from eagle.plugin.adapters import adapter_of
from eagle.plugin.kernels import Launch
from eagle.plugin.nodes import Access, Node

__all__ = ["launch_access"]


def launch_access(node: Node[Launch]) -> Iterable[Access]:
    """Yield the planes of a launch: what the kernel writes counts as written, masks included.

    Raises
    ------
    GraphError
        The kernel is a derivative.
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
        per_sample = argument.role != "table"
        yield Access(
            name=argument.name,
            array=array,
            mode="rw" if gated and argument.mode == "w" else argument.mode,
            total=argument.total and not gated,
            axis=len(adapter_of(array).describe(array).shape) - 1 if per_sample else None,
        )
    if gated:
        yield Access(name="samples done", array=launch.gate, mode="r", axis=0)
