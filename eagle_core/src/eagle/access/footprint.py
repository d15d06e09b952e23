"""The set of bytes an array covers, in a normal form, and whether two such sets share a byte."""

from __future__ import annotations

from collections.abc import Hashable
from math import gcd
from typing import NamedTuple

import numpy as np

from eagle.plugin.arrays import Memory

__all__ = ["MAX_WORK", "Footprint", "footprint", "overlap"]

MAX_WORK = 100_000
"""How much work the exact test of two strided views may take (`numpy.shares_memory`) before they count as sharing."""


class Footprint(NamedTuple):
    """Blocks of contiguous bytes, repeated at strides. Arrays over the same bytes have mostly the same footprint.

    Attributes
    ----------
    space : hashable
        Two footprints can share a byte only inside one space.
    low, high : int
        The first byte, and one past the last.
    block : int
        Bytes of one contiguous block; 0: no byte at all.
    dims : tuple of (int, int)
        (stride, count) of each repetition, ascending by stride; every stride is larger than `block`.
    """

    space: Hashable
    low: int
    high: int
    block: int
    dims: tuple[tuple[int, int], ...]


def footprint(memory: Memory) -> Footprint:
    """Return the bytes of `memory`.

    Directions, axes of one element and repetitions of the same bytes are dropped, and axes whose blocks touch are
    joined, so that a contiguous array of any shape is one block and every second element of it is one repetition.
    """
    low, block = memory.address, memory.itemsize
    if memory.strides == (block,) and memory.shape[0]:  # mostly
        high = low + block * memory.shape[0]
        return Footprint(memory.space, low, high, high - low, ())
    steps = []
    for stride, count in zip(memory.strides, memory.shape, strict=True):
        if count == 0:
            return Footprint(memory.space, low, low, 0, ())
        if count > 1 and stride:
            if stride < 0:
                low += stride * (count - 1)
                stride = -stride
            steps.append((stride, count))
    dims: list[tuple[int, int]] = []
    for stride, count in sorted(steps):
        if not dims and stride <= block:
            block += stride * (count - 1)
        elif dims and stride == dims[-1][0] * dims[-1][1]:
            dims[-1] = (dims[-1][0], dims[-1][1] * count)
        else:
            dims.append((stride, count))
    high = low + block + sum(stride * (count - 1) for stride, count in dims)
    return Footprint(memory.space, low, high, block, tuple(dims))


def overlap(a: Footprint, b: Footprint, max_work: int = MAX_WORK) -> bool:
    """Whether `a` and `b` share a byte: exact up to `max_work`, and True past it.

    Two blocks are compared by their ends. Two sets of columns of one matrix are told apart by the greatest common
    divisor of their strides. What is left is the bounded Diophantine problem that `numpy.shares_memory` solves, here
    over stand-ins that carry addresses only, so that device memory is compared the same way and never read.
    """
    if a.space != b.space or not a.block or not b.block or a.low >= b.high or b.low >= a.high:
        return False
    if not a.dims and not b.dims:
        return True
    common = gcd(*(stride for stride, _ in a.dims + b.dims))
    offset = (b.low - a.low) % common
    if a.block <= offset <= common - b.block:
        return False
    origin = min(a.low, b.low)
    try:
        return bool(np.shares_memory(_stand_in(a, origin), _stand_in(b, origin), max_work=max_work))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


class _StandIn:
    """Something NumPy takes for an array at an address nobody reads."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
        self.__array_interface__ = {
            "data": (address, True),
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{itemsize}",
            "version": 3,
        }


def _stand_in(a: Footprint, origin: int) -> np.ndarray:
    # Both addresses are moved by one constant: NumPy refuses 0, which is a valid offset inside a device buffer.
    address = a.low - origin + 4096
    strides = tuple(stride for stride, _ in a.dims)
    shape = tuple(count for _, count in a.dims)
    if a.block < 2**31:
        return np.asarray(_StandIn(address, shape, strides, a.block))
    # NumPy's item size is a C int; a larger block is an axis of bytes.
    return np.asarray(_StandIn(address, (*shape, a.block), (*strides, 1), 1))
