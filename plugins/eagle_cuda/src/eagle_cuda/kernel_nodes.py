"""The kernels of a graph of the driver: their names, and the arguments they will be launched with."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

from eagle.plugin import BuildError
from eagle_cuda.driver import abilities, api, call
from eagle_cuda.errors import CudaError
from eagle_cuda.nodes import nodes_of

__all__ = ["kernels_of"]

_KERNEL, _CHILD = 0, 4  # CUgraphNodeType


def kernels_of(handle: int) -> Iterator[tuple[str, list[bytes]]]:
    """Yield name and arguments, byte for byte, of every kernel of a graph, those inside its children too.

    Arguments that were given as one buffer have no places of their own, and are left out.

    Raises
    ------
    BuildError
        The driver does not tell.
    """
    if not abilities().tells_parameters:
        raise BuildError(
            "the kernels of a captured graph cannot be looked at",
            why=f"the driver, for CUDA {abilities().cuda}, does not tell their arguments; drivers for 12.4 do",
            fix="Update the driver, or replay the graph in an opaque with stream= or eager=True.",
        )
    yield from _kernels(nodes_of(api().CUgraph(handle)))


def _kernels(nodes: Sequence[Any]) -> Iterator[tuple[str, list[bytes]]]:
    for node in nodes:
        kind = int(call("cuGraphNodeGetType", node))
        if kind == _CHILD:
            yield from _kernels(nodes_of(call("cuGraphChildGraphNodeGetGraph", node)))
        elif kind == _KERNEL:
            parameters = call("cuGraphKernelNodeGetParams", node)
            function = parameters.func if int(parameters.func) else call("cuKernelGetFunction", parameters.kern)
            name = call("cuFuncGetName", function)
            yield name.decode("utf-8", "replace"), _arguments(function, int(parameters.kernelParams or 0))


def _arguments(function: Any, places: int) -> list[bytes]:
    """Read the arguments, which lie where the array of addresses at `places` says."""
    found: list[bytes] = []
    while places:
        try:
            _, size = call("cuFuncGetParamInfo", function, len(found))
        except CudaError:  # there are no more
            break
        place = ctypes.c_void_p.from_address(places + len(found) * ctypes.sizeof(ctypes.c_void_p)).value
        found.append(ctypes.string_at(place, int(size)) if place else b"")
    return found
