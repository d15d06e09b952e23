"""What a node of a Warp kernel carries, and which planes it touches. Nothing here imports Warp."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eagle.plugin import Access, Mode, Node

__all__ = ["KIND", "KIND_WITH_HANDLES", "WarpLaunch", "WarpPlane", "access"]

KIND = "eagle_warp.launch"
KIND_WITH_HANDLES = "eagle_warp.launch_with_handles"
"""Of kernels with arguments that may lead to memory no plane tells of: meshes, textures, arrays of structures."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WarpPlane:
    """An array argument of a kernel.

    Attributes
    ----------
    name : str
        The argument's name, with that of the field where the array is in a structure.
    array : object
    mode : {"r", "w", "rw"}
    """

    name: str
    array: object
    mode: Mode


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WarpLaunch:
    """A launch of a Warp kernel.

    Attributes
    ----------
    kernel : warp.Kernel
    dim : tuple of int
    arguments : tuple
        One per parameter of the kernel, as given.
    planes : tuple of WarpPlane
    block_dim : int or None
    """

    kernel: Any
    dim: tuple[int, ...]
    arguments: tuple[object, ...]
    planes: tuple[WarpPlane, ...]
    block_dim: int | None


def access(node: Node[WarpLaunch]) -> Iterator[Access]:
    """Yield the planes."""
    for plane in node.payload.planes:
        yield Access(name=plane.name, array=plane.array, mode=plane.mode)
