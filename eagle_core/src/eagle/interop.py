"""Memory that others own and keep changing: ``import_buffer``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from eagle.errors import PlaneError
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import ArrayAdapter, Memory

__all__ = ["Buffer", "import_buffer"]


class _Buffers(ArrayAdapter):
    """Reads a buffer's owner, by the adapter of its library."""

    def claims(self, array: object, /) -> bool:
        return isinstance(array, Buffer)

    def describe(self, array: Any, /) -> Memory:
        array.check()
        return array.memory  # type: ignore[no-any-return]

    def probe(self, array: Any, /) -> Hashable:
        return array._adapter.probe(array.owner)  # type: ignore[no-any-return]

    def moved(self, array: Any, /) -> str:
        return _WAY_OUT

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, /) -> object:
        return like._adapter.empty(like.owner, shape, dtype)

    def read(self, array: Any, index: int, /) -> object:
        return array._adapter.read(array.owner, index)


class Buffer:
    """The memory of an array, as it was when it was imported, to bind planes to. It offers DLPack.

    Attributes
    ----------
    owner : array
        Whose memory it is.
    memory : Memory
    """

    __eagle_adapter__ = _Buffers()

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self._adapter = adapter_of(owner)
        self.memory = self._adapter.describe(owner)
        self._mark = self._adapter.probe(owner)

    def check(self) -> None:
        """Raise `PlaneError` if the owner has other memory by now."""
        if self._adapter.probe(self.owner) != self._mark:
            raise PlaneError(
                f"the {type(self.owner).__name__} has other memory than when it was imported", fix=_WAY_OUT
            )

    def __dlpack__(self, **asked: Any) -> Any:
        """Export the memory, without a copy. Raises `PlaneError` if the owner has other memory by now."""
        self.check()
        return self._adapter.exported(self.owner).__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._adapter.exported(self.owner).__dlpack_device__()  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return (
            f"<eagle.interop.Buffer of {self.memory.dtype}{list(self.memory.shape)} of a {type(self.owner).__name__}>"
        )


def import_buffer(obj: object) -> Buffer:
    """Return the memory of an array or a framework's parameter as one buffer to bind, without a copy.

    What its owner writes in place is seen by the next launch: an optimizer's step is the refresh. Update after `launch`
    returned, or `synchronize`, never between `enqueue` and `synchronize`. A launch after the owner was given other
    memory is refused by name.

    Parameters
    ----------
    obj : array
        A tensor or a parameter, or an array of any library that eagle can find the memory of.

    Raises
    ------
    PlaneTypeError, PlaneError
        It is no array, or has no memory of its own.
    """
    return Buffer(obj)


_WAY_OUT = (
    "Bind the array that is updated in place, as optimizers do: `param.data = ...`, a resize and a move to another "
    "device give it other memory, which needs a new import_buffer and a new graph."
)
