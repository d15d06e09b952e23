"""JAX's arrays: immutable, waited for when they are added, refused by name where they are no one block of memory."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from math import prod
from typing import Any

import numpy as np

from eagle.plugin import ArrayAdapter, Device, Memory, PlaneError

__all__ = ["JaxArrays"]

_IMMUTABLE = (
    "JAX arrays are immutable; let the plane be an array of another library, NumPy's or CuPy's say, which "
    "eagle.frameworks.jax.node(fn, reads=, writes=) puts the results of a JAX function into"
)


class JaxArrays(ArrayAdapter):
    """Adapter of `jax.Array`: read in place, never written.

    An array may still be computed when JAX returns it. It is waited for where it is described, once, because nothing
    changes it afterwards.
    """

    def claims(self, array: object, /) -> bool:
        """Whether it is a `jax.Array`; inside a function that JAX traces, a tracer is one."""
        kind = getattr(sys.modules.get("jax"), "Array", None)
        return kind is not None and isinstance(array, kind)

    def describe(self, array: Any, /) -> Memory:
        """Return its memory.

        Raises
        ------
        PlaneError
            It is a tracer, was deleted or donated, holds keys or elements smaller than a byte, lies on several devices,
            in another layout than rows, or outside the memory its device computes in.
        """
        refuse_without_memory(array)
        array.block_until_ready()
        itemsize = array.dtype.itemsize
        (where,) = array.devices()
        device = _device(where)
        return Memory(
            device=device,
            address=int(array.unsafe_buffer_pointer()),
            shape=tuple(array.shape),
            strides=tuple(itemsize * prod(array.shape[axis + 1 :]) for axis in range(array.ndim)),
            itemsize=itemsize,
            dtype=array.dtype.name,
            readonly=_IMMUTABLE,
            space="process" if device[0] in ("cpu", "cuda") else ("jax", device),
            keep=array,
        )

    def probe(self, array: Any, /) -> Hashable:
        """Return whether it still has its memory, which is all that may change."""
        return not array.is_deleted()

    def moved(self, array: object, /) -> str:
        """Return what to do about an array that was deleted or donated."""
        return "Leave it out of donate_argnums, or build a new graph over the array that holds its values now."

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate a NumPy array on the CPU, one of the backend's own on a device: no JAX array could be written."""
        if self.describe(like).device[0] == "cpu":
            return np.empty(shape, dtype)
        return super().empty(like, shape, dtype)


def refuse_without_memory(array: Any) -> None:
    """Raise `PlaneError` unless a `jax.Array` is one block of memory that its device computes in."""
    import jax

    if isinstance(array, jax.core.Tracer):
        raise PlaneError(
            "the array is a tracer of JAX, which has no memory",
            why="it stands for an argument of a function that JAX traces",
            fix="Make the graph outside that function, over arrays.",
        )
    if array.is_deleted():
        raise PlaneError(
            "the JAX array was deleted, or donated to a function",
            fix="Pass the array that holds its values now, and leave it out of donate_argnums.",
        )
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
        raise PlaneError(
            f"a JAX array of dtype {array.dtype} hides what it holds", fix="Pass jax.random.key_data(keys), of uint32."
        )
    if len(array.devices()) != 1 or not array.is_fully_addressable:
        raise PlaneError(
            f"the JAX array lies on {len(array.devices())} devices",
            why="a plane is one block of memory",
            fix="Pass the data of one of its addressable_shards.",
        )
    _refuse_unusual_memory(array)


def _refuse_unusual_memory(array: Any) -> None:
    (where,) = array.devices()
    name = array.dtype.name
    if name.startswith(("int2", "int4", "uint2", "uint4", "float4")):
        raise PlaneError(f"the elements of a JAX array of {name} are smaller than a byte", fix="Convert it: astype.")
    kind = array.sharding.memory_kind
    if kind not in (None, where.default_memory().kind):
        raise PlaneError(
            f"the JAX array is in {kind} memory of {where}",
            why=f"{where.default_memory().kind} is what it computes in",
            fix="Move it there with jax.device_put.",
        )
    order = _order_of_axes(array)
    if order != tuple(range(array.ndim)):
        raise PlaneError(
            f"the axes of the JAX array lie in the order {order} in memory",
            fix="Make it one of rows: jax.device_put without a layout.",
        )


def _order_of_axes(array: Any) -> tuple[int, ...]:
    layout = array.format.layout
    return tuple(range(array.ndim)) if layout is None else tuple(layout.major_to_minor)


def _device(where: Any) -> Device:
    kind = {"gpu": "cuda"}.get(where.platform, where.platform)
    return kind, 0 if kind == "cpu" else int(where.local_hardware_id)
