"""What a node of a Warp kernel carries, and which planes it touches. Nothing here imports Warp."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eagle.plugin import Access, EagleError, Memory, Mode, Node, PlaneError, adapter_of

__all__ = ["KIND", "KIND_WITH_HANDLES", "Elements", "WarpLaunch", "WarpPlane", "access"]

KIND = "eagle_warp.launch"
KIND_WITH_HANDLES = "eagle_warp.launch_with_handles"
"""Of kernels with arguments that may lead to memory no plane tells of: meshes, textures, arrays of structures."""


@dataclass(frozen=True, kw_only=True)
class Elements:
    """The elements that a kernel takes an array of.

    Attributes
    ----------
    dtype : str or None
        Of one scalar; None: the kernel is generic, and takes any.
    inner : tuple of int
        The axes of one element: a vector's or a matrix's, which lie one behind the other.
    axes : int
        How many axes of such elements.
    """

    dtype: str | None
    inner: tuple[int, ...]
    axes: int

    def refuse(self, memory: Memory, name: str) -> None:
        """Raise `PlaneError` for memory that does not hold such elements."""
        outer = len(memory.shape) - len(self.inner)
        step, within = memory.itemsize, []
        for count in reversed(self.inner):
            within.append(step)
            step *= count
        rows = 0 in memory.shape or memory.strides[outer:] == tuple(reversed(within))
        if self.dtype is None and outer >= self.axes:
            return
        if self.dtype == memory.dtype and outer == self.axes and memory.shape[outer:] == self.inner and rows:
            return
        raise PlaneError(
            f"the kernel takes an array of {self}, and this one is {memory.dtype}{list(memory.shape)}",
            why="" if rows else f"its strides of {list(memory.strides)} bytes tear its elements apart",
            fix="Pass an array as the kernel's annotation says; nothing is converted.",
            planes=(name,),
        )

    def __str__(self) -> str:
        axes = f"{self.axes} axes" if self.axes != 1 else "one axis"
        of = f"elements of {list(self.inner)} {self.dtype}" if self.inner else str(self.dtype)
        return f"{of} along {axes}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WarpPlane:
    """An array argument of a kernel.

    Attributes
    ----------
    name : str
        The argument's name, with that of the field where the array is in a structure.
    array : object
    mode : {"r", "w", "rw"}
    elements : Elements or None
        What the kernel takes; None: as it is.
    """

    name: str
    array: object
    mode: Mode
    elements: Elements | None = None


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
    """Yield the planes, after each was held against what the kernel takes."""
    for plane in node.payload.planes:
        try:
            memory = adapter_of(plane.array).describe(plane.array)
        except EagleError as error:
            error.locate(plane=plane.name)
            raise
        if plane.elements is not None:
            plane.elements.refuse(memory, plane.name)
        yield Access(name=plane.name, array=plane.array, mode=plane.mode)
