"""``copy``: one array into another, the one node that may cross devices."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from eagle.access import footprint, overlap
from eagle.errors import PlaneError
from eagle.graph.payloads import Copy
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import Memory
from eagle.plugin.nodes import Access, Node

__all__ = ["copy", "copy_access", "refuse_self_overlap"]

_MAX_ELEMENTS = 1_000_000


def copy(src: object, *, into: object, name: str | None = None) -> Node[Copy]:
    """Make a node that copies `src` into `into`.

    Parameters
    ----------
    src, into : array
        Of the same shape and dtype, with any strides, not overlapping. They may be on different devices.
    name : str, optional
        Its label.

    Raises
    ------
    PlaneError
        When it is added: shapes or dtypes differ, the arrays share memory, or `into` is read-only.
    """
    return Node("copy", Copy(src=src, into=into), name)


def copy_access(node: Node[Copy]) -> Iterable[Access]:
    """Check the two arrays against each other, and return them as planes."""
    src, into = node.payload.src, node.payload.into
    here, there = described(src, "src"), described(into, "into")
    if here.shape != there.shape or here.dtype != there.dtype:
        raise PlaneError(
            f"copy needs one shape and dtype: src is {here.dtype}{list(here.shape)}, "
            f"into is {there.dtype}{list(there.shape)}",
            why="nothing is converted or broadcast behind your back",
            planes=("src", "into"),
        )
    if overlap(footprint(here), footprint(there)):
        raise PlaneError("src and into of a copy share memory", fix="Copy into other memory.", planes=("src", "into"))
    refuse_self_overlap(there, "into")
    axis = 0 if here.shape else None
    return (
        Access(name="src", array=src, mode="r", axis=axis),
        Access(name="into", array=into, mode="w", total=True, axis=axis),
    )


def described(array: object, plane: str) -> Memory:
    """Return an array's memory; a refusal names the plane."""
    try:
        return adapter_of(array).describe(array)
    except PlaneError as error:
        error.locate(plane=plane)
        raise


def refuse_self_overlap(memory: Memory, plane: str) -> None:
    """Raise `PlaneError` unless every element has bytes of its own, as those of a written array must.

    Strided axes are nested when each stride reaches past everything the smaller ones cover, which is always so for a
    view made by slicing, transposing or reshaping. Other strides are looked at element by element, up to a million.
    """
    if 0 in memory.shape or _nested(memory) or _apart(memory):
        return
    raise PlaneError(
        "elements of the array share memory with each other, or cannot be told apart",
        why="what is written to one could change another",
        fix="Pass an array whose elements have memory of their own.",
        planes=(plane,),
    )


def _nested(memory: Memory) -> bool:
    covered = memory.itemsize
    axes = sorted((abs(stride), count) for stride, count in zip(memory.strides, memory.shape, strict=True) if count > 1)
    for stride, count in axes:
        if stride < covered:
            return False
        covered += stride * (count - 1)
    return True


def _apart(memory: Memory) -> bool:
    if prod(memory.shape) > _MAX_ELEMENTS:
        return False
    offsets = np.zeros(1, np.int64)
    for stride, count in zip(memory.strides, memory.shape, strict=True):
        offsets = (offsets[:, None] + np.arange(count, dtype=np.int64) * stride).ravel()
    offsets.sort()
    return bool(np.all(np.diff(offsets) >= memory.itemsize))
