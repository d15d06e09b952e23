"""CUDA graphs that torch captured, as child graphs."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

from eagle.plugin import BuildError, ForeignGraph

__all__ = ["adopt"]


def adopt(owner: object) -> ForeignGraph | None:
    """Return the graph of a ``torch.cuda.CUDAGraph``; None for anything else.

    Raises
    ------
    BuildError
        It was not made with ``keep_graph=True``, holds no finished capture, or draws random numbers.
    """
    torch: Any = sys.modules["torch"]
    if not isinstance(owner, torch.cuda.CUDAGraph):
        return None
    graph = _raw(owner)
    if _backend_is_there():
        from eagle_torch.random_numbers import refuse_random

        refuse_random(graph)
    return ForeignGraph(backend="gpu", graph=graph, version=_Version(owner), keep=owner)


class _Version:
    """What differs once a graph was reset or captured anew."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __call__(self) -> Hashable:
        """Return the graph's handle, number and nodes, or why there is none."""
        from eagle_cuda import graph_version

        try:
            handle = int(self._owner.raw_cuda_graph())
        except RuntimeError as error:
            return str(error)
        return graph_version(handle)


def _raw(owner: Any) -> int:
    try:
        return int(owner.raw_cuda_graph())
    except RuntimeError as error:
        raise BuildError(
            "the child is a torch CUDAGraph that does not give its graph",
            why=str(error).splitlines()[0] if str(error) else "torch does not say why",
            fix="Capture into torch.cuda.CUDAGraph(keep_graph=True) before the build.",
        ) from error


def _backend_is_there() -> bool:
    """Whether there is a backend that could run it: without one the core says so."""
    from importlib.util import find_spec

    return find_spec("eagle_cuda") is not None
