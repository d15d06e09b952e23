"""Memory that others own and keep changing: ``import_buffer``."""

from __future__ import annotations

from typing import Any

from eagle.errors import PlaneError
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import ArrayAdapter, Memory

__all__ = ["Buffer", "import_buffer"]


class Buffer(ArrayAdapter):
    """The memory of an array, as it was when it was imported, to bind planes to. It offers DLPack.

    It is its own adapter, and answers of its owner.

    Attributes
    ----------
    owner : array
        Whose memory it is.
    memory : Memory
    """

    def __init__(self, owner: object) -> None:
        self.owner, self._adapter = owner, adapter_of(owner)
        self.memory, self._mark = self._adapter.describe(owner), self._adapter.probe(owner)

    def claims(self, array: object, /) -> bool:
        """Whether it is this buffer."""
        return array is self

    def describe(self, array: object = None, /) -> Memory:
        """Return the memory. Raises `PlaneError` if the owner has other memory by now."""
        if self.probe() != self._mark:
            what = f"the {type(self.owner).__name__} has other memory than when it was imported"
            raise PlaneError(what, fix=self.moved())
        return self.memory

    def probe(self, array: object = None, /) -> Any:
        """Return what tells whether the owner has other memory."""
        return self._adapter.probe(self.owner)

    def moved(self, array: object = None, /) -> str:
        """Say what to do once it has."""
        return f"{self._adapter.moved(self.owner)} Other memory needs a new import_buffer."

    def empty(self, like: object, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate an array of the owner's library."""
        return self._adapter.empty(self.owner, shape, dtype)

    def __dlpack__(self, **asked: Any) -> Any:
        """Export the memory, without a copy. Raises `PlaneError` if the owner has other memory by now."""
        self.describe()
        return self._adapter.exported(self.owner).__dlpack__(**asked)

    def __dlpack_device__(self) -> Any:
        return self._adapter.exported(self.owner).__dlpack_device__()


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
