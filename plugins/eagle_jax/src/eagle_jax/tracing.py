"""A JAX function over planes: traced, checked against the planes it writes, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import numpy as np

from eagle.plugin import Memory, PlaneError

__all__ = ["Traced"]

_WIDE = frozenset({"float64", "int64", "uint64", "complex128"})
_DTYPES = _WIDE | {
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("float16", "bfloat16", "float32", "complex64"),
}
_NUMBERS = (bool, int, float, complex)


class Traced:
    """A function of planes by name, as one of arrays by position, over fixed shapes and dtypes.

    Parameters
    ----------
    fn : callable
        ``fn(**reads) -> mapping of the writes``.
    reads, writes : mapping of str to Memory

    Attributes
    ----------
    arguments : tuple of jax.ShapeDtypeStruct
        One per plane that is read.
    is_wide : bool
        Whether it has to be called inside `precision`: a plane is of a 64-bit dtype.

    Raises
    ------
    PlaneError
        It returns no mapping of the writes, or a result that does not fit its plane; or JAX has no such dtype.
    """

    def __init__(
        self, fn: Callable[..., Mapping[str, Any]], reads: Mapping[str, Memory], writes: Mapping[str, Memory]
    ) -> None:
        self._fn, self._reads, self._writes = fn, tuple(reads), dict(writes)
        planes = self._planes = {**reads, **writes}
        for name, memory in planes.items():
            _refuse_dtype(name, memory)
        self.is_wide = any(one.dtype in _WIDE for one in planes.values())
        self._refusal: PlaneError | None = None
        self._compiled: dict[Any, Callable[..., tuple[jax.Array, ...]]] = {}
        with self.precision():
            self.arguments = tuple(
                jax.ShapeDtypeStruct(one.shape, jax.numpy.dtype(one.dtype)) for one in reads.values()
            )
            self._program = jax.jit(self._by_position).trace(*self.arguments)
        if self._refusal is not None:
            raise self._refusal

    def precision(self) -> AbstractContextManager[object]:
        """Return the context in which it is traced and called: JAX's 64-bit mode, where only that has its dtypes."""
        return jax.enable_x64(True) if self.is_wide and not jax.config.jax_enable_x64 else nullcontext()

    def compiled(self, device: Any) -> Callable[..., tuple[jax.Array, ...]]:
        """Compile it for a device of JAX's, to be called with one array per plane that is read, inside `precision`.

        Returns
        -------
        callable
            ``compiled(*arrays) -> results``, one per plane that is written.
        """
        if device not in self._compiled:
            with self.precision(), jax.default_device(device):
                self._compiled[device] = self._program.lower().compile()
        return self._compiled[device]

    def dtype_of(self, name: str) -> str:
        """Return the dtype of a plane as JAX calls it."""
        return self._planes[name].dtype

    def _by_position(self, *arrays: Any) -> tuple[Any, ...]:
        returned = self._fn(**dict(zip(self._reads, arrays, strict=True)))
        self._refusal = _misfit(returned, self._writes)
        return () if self._refusal else tuple(returned[name] for name in self._writes)


def _misfit(returned: Any, writes: Mapping[str, Memory]) -> PlaneError | None:
    """Return what is wrong with what a function returned, if anything is."""
    wanted = ", ".join(map(repr, writes))
    if not isinstance(returned, Mapping):
        return PlaneError(
            f"the JAX function returns {'an array' if isinstance(returned, jax.Array) else type(returned).__name__}",
            why="what it writes is found by name",
            fix=f"Return a mapping of {wanted}.",
        )
    for name in writes:
        if name not in returned:
            has = ", ".join(map(repr, returned)) or "nothing"
            return PlaneError(
                f"the JAX function does not return {name!r}",
                why=f"it returns {has}",
                fix=f"Return {wanted}.",
                planes=(name,),
            )
    for name in returned:
        if name not in writes:
            return PlaneError(
                f"the JAX function returns {name!r}, which is not among its writes",
                fix=f"Leave it out, or add it: writes={{{name!r}: array}}.",
                planes=(str(name),),
            )
    misfits = (_result_misfit(name, returned[name], memory) for name, memory in writes.items())
    return next((one for one in misfits if one is not None), None)


def _result_misfit(name: str, result: Any, memory: Memory) -> PlaneError | None:
    if not isinstance(result, (jax.Array, np.ndarray, np.generic, *_NUMBERS)):
        return PlaneError(
            f"the JAX function returns a {type(result).__name__} for {name!r}", fix="Return an array.", planes=(name,)
        )
    shape = np.shape(result)
    dtype = jax.dtypes.result_type(result) if isinstance(result, _NUMBERS) else result.dtype
    if (tuple(shape), dtype.name) == (memory.shape, memory.dtype):
        return None
    fix = (
        "Return the shape of the plane." if tuple(shape) != memory.shape else f"Convert it: .astype({memory.dtype!r})."
    )
    return PlaneError(
        f"the JAX function returns {dtype.name}{list(shape)} for {name!r}",
        why=f"the plane is {memory.dtype}{list(memory.shape)}, and nothing is converted or broadcast",
        fix=fix,
        planes=(name,),
    )


def _refuse_dtype(name: str, memory: Memory) -> None:
    if memory.dtype not in _DTYPES and not memory.dtype.startswith("float8_"):
        raise PlaneError(
            f"JAX has no dtype {memory.dtype}",
            why="it computes with numbers in the machine's own order of bytes",
            fix="Convert the array.",
            planes=(name,),
        )
