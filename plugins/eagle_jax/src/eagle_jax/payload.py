"""What a node of a JAX function carries, and which planes it touches. Nothing here imports JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle.plugin import Access, EagleError, Memory, Node, PlaneError, adapter_of

if TYPE_CHECKING:
    from eagle_jax.tracing import Traced

__all__ = ["KIND", "JaxFunction", "access"]

KIND = "eagle_jax.node"
_MAX_WORK = 100_000  # of the exact test of two strided planes, before they count as sharing


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JaxFunction:
    """A function of JAX arrays, and the planes it is called over.

    Attributes
    ----------
    fn : callable
        ``fn(**reads) -> mapping of the writes``.
    reads, writes : mapping of str to array
    made : dict
        What it was traced and compiled to.
    """

    fn: Callable[..., Mapping[str, Any]]
    reads: Mapping[str, object]
    writes: Mapping[str, object]
    made: dict[object, Traced] = field(default_factory=dict)

    def traced(self) -> Traced:
        """Return it traced over the shapes and dtypes of its planes, and checked.

        Raises
        ------
        PlaneError
            What it returns is no mapping of the writes, or does not fit one of them.
        Exception
            Whatever the function raises when it is traced.
        """
        from eagle_jax.tracing import Traced

        reads, writes = _described(self.reads), _described(self.writes)
        key = tuple((name, one.shape, one.dtype) for name, one in (*reads.items(), *writes.items()))
        if key not in self.made:
            self.made[key] = Traced(self.fn, reads, writes)
        return self.made[key]


def access(node: Node[JaxFunction]) -> Iterator[Access]:
    """Yield the planes, after the function was traced over them."""
    payload = node.payload
    for name, array in payload.reads.items():
        yield Access(name=name, array=array, mode="r")
    for name, array in payload.writes.items():
        yield Access(name=name, array=array, mode="w")
    payload.traced()
    _refuse_shared(_described(payload.writes))


def _described(planes: Mapping[str, object]) -> dict[str, Memory]:
    found = {}
    for name, array in planes.items():
        try:
            found[name] = _named(adapter_of(array).describe(array), array)
        except EagleError as error:
            error.locate(plane=name)
            raise
    return found


def _named(memory: Memory, array: object) -> Memory:
    """Return the memory with its dtype as JAX calls it: NumPy calls a bfloat16 a void of two bytes."""
    dtype = getattr(array, "dtype", None)
    return replace(memory, dtype=dtype.name) if isinstance(dtype, np.dtype) and dtype.kind == "V" else memory


def _refuse_shared(writes: Mapping[str, Memory]) -> None:
    """Raise `PlaneError` for two planes written by the node that share a byte, where either result could stay."""
    names = list(writes)
    for number, first in enumerate(names):
        for second in names[number + 1 :]:
            if writes[first].space == writes[second].space and _share(writes[first], writes[second]):
                raise PlaneError(
                    f"planes {first!r} and {second!r} share memory, and the function writes both",
                    fix="Give each result memory of its own.",
                    planes=(first, second),
                )


def _share(a: Memory, b: Memory) -> bool:
    try:
        return bool(np.shares_memory(_StandIn.of(a), _StandIn.of(b), max_work=_MAX_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


class _StandIn:
    """Something NumPy takes for an array at the address of another one, of any device; no element is ever looked at."""

    def __init__(self, memory: Memory) -> None:
        self.__array_interface__ = {
            "data": (memory.address, True),
            "shape": memory.shape,
            "strides": memory.strides,
            "typestr": f"|V{memory.itemsize}",
            "version": 3,
        }

    @classmethod
    def of(cls, memory: Memory) -> np.ndarray[Any, Any]:
        return np.asarray(cls(memory))
