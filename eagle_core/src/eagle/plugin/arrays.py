"""What eagle knows of an array: where its bytes are. And how a library's arrays are read: an adapter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from eagle.errors import PlaneError

if TYPE_CHECKING:
    import numpy as np

    from eagle.plugin.backend import Backend

__all__ = ["ArrayAdapter", "Device", "Memory", "host_view"]

Device: TypeAlias = tuple[str, int]
"""Kind and index of the device that may use some memory: ``("cpu", 0)``, ``("cuda", 1)``. Index -1: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Memory:
    """The bytes of one array, as an adapter describes them.

    Attributes
    ----------
    device : Device
        Who may use the memory. It plays no part in deciding what overlaps.
    address : int
        Address of element ``[0, .., 0]``, a number inside `space`.
    shape : tuple of int
    strides : tuple of int
        In bytes, one per axis; may be 0 or negative.
    itemsize : int
        Bytes of one element.
    dtype : str
        ``"float64"``, ``"bfloat16"``; not native or not plain: NumPy's ``str``, like ``">f8"``.
    readonly : str or None
        Why the array cannot be written and what to do instead; None when it can be.
    space : hashable
        Addresses are compared only inside one space. Host and CUDA addresses are unique in a process and share
        ``"process"``; a buffer without an address uses a space of its own and its offset as the address.
    keep : object
        Keeps the bytes alive.
    """

    device: Device
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: str
    readonly: str | None = None
    space: Hashable = "process"
    keep: object = None

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one behind the other, the last axis fastest; if there are none, they do."""
        step = self.itemsize
        for stride, count in zip(reversed(self.strides), reversed(self.shape), strict=True):
            if count > 1 and stride != step and 0 not in self.shape:
                return False
            step *= count
        return True

    @property
    def has_contiguous_rows(self) -> bool:
        """Whether the elements along the last axis lie one behind the other; it has at least one axis."""
        return self.shape[-1] <= 1 or self.strides[-1] == self.itemsize


class ArrayAdapter(ABC):
    """How eagle sees the arrays of one library. Nothing here may import that library."""

    @abstractmethod
    def claims(self, array: object, /) -> bool:
        """Whether `array` is one of this library's, decided by type, through ``sys.modules``."""

    @abstractmethod
    def describe(self, array: object, /) -> Memory:
        """Return the memory of `array`.

        Raises
        ------
        PlaneError
            The array has no single block of memory, or may not be touched; the message gives the way out.
        """

    def probe(self, array: object, /) -> Hashable:
        """Return a cheap value that differs once the array moved or changed its extent: at least address and shape."""
        memory = self.describe(array)
        return memory.address, memory.shape, memory.strides

    def probed(self, array: object, /) -> Sequence[Any] | None:
        """Return the NumPy arrays that are all that `probe` looks at, or None.

        Native code compares them without a call to `probe`: address, shape and strides of the first, which is `array`
        itself or has its place, address and shape of the others.
        """
        return None

    def exported(self, array: Any, /) -> Any:
        """Return what offers DLPack over the memory of `array`: by default the array itself."""
        return array

    def moved(self, array: object, /) -> str:
        """Return what to do about an array that has other memory than when it was added, as a sentence."""
        return "Keep the array as it is, or build a new graph over the new one."

    def empty(self, like: object, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate an array of the same library and on the same device as `like`; by default, of its backend's own.

        Raises
        ------
        PlaneError
            This adapter cannot allocate.
        """
        memory = self.describe(like)
        if memory.device[0] != "cpu":
            return _backend(like, memory).empty(memory, shape, dtype)
        raise PlaneError(f"eagle cannot allocate a {type(like).__name__}", fix="Pass the array yourself.")

    def read(self, array: object, index: int, /) -> object:
        """Return element `index` of a 1-D array as a Python number, waiting for the device.

        Raises
        ------
        PlaneError
            No backend here can read its memory.
        """
        memory = self.describe(array)
        return (
            host_view(memory).item(index) if memory.device[0] == "cpu" else _backend(array, memory).read(memory, index)
        )

    def host(self, array: object, /) -> np.ndarray[Any, Any]:
        """Return its elements as a NumPy array: a view of host memory, a copy of a device's, which is waited for.

        Raises
        ------
        PlaneError
            No backend here can read its memory.
        """
        memory = self.describe(array)
        return host_view(memory) if memory.device[0] == "cpu" else _backend(array, memory).fetch(memory)

    def clear(self, array: object, /) -> None:
        """Set every byte of a contiguous array to zero.

        Raises
        ------
        PlaneError
            No backend here can write its memory.
        """
        memory = self.describe(array)
        if memory.device[0] == "cpu":
            host_view(memory)[...] = 0
        else:
            _backend(array, memory).clear(memory)


def host_view(memory: Memory) -> np.ndarray[Any, Any]:
    """Return an array over host memory, as its dtype, or as raw bytes of the item size where NumPy has no such dtype.

    The view keeps ``memory.keep`` alive.
    """
    import numpy as np

    try:
        typestr = np.dtype(memory.dtype).str
    except TypeError:
        typestr = f"|V{memory.itemsize}"
    place = {"data": (memory.address, memory.readonly is not None), "typestr": typestr, "version": 3}
    return np.asarray(_Described(memory.keep, {**place, "shape": memory.shape, "strides": memory.strides}))


@dataclass(frozen=True, slots=True, eq=False)
class _Described:
    """Something NumPy takes for an array: what keeps the bytes alive, and the protocol that makes a view."""

    keep: object
    __array_interface__: dict[str, Any]


def _backend(array: object, memory: Memory) -> Backend:
    """Return the backend that can run here and has this memory."""
    from eagle.plugin.lookup import backends, why_not

    for backend in backends():
        if memory.device[0] in backend.devices and why_not(backend) is None:
            return backend
    raise PlaneError(
        f"no backend here can look into the {memory.device[0]} memory of a {type(array).__name__}",
        fix="Copy it into a host array first, or install the plugin of a backend for it.",
    )
