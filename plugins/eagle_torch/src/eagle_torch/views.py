"""Any library's array as a tensor over the same memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from eagle.plugin import Memory, Plane, PlaneError

__all__ = ["tensor_of"]


class _Described:
    """Memory behind one of the array interfaces, which are taken at their word. It keeps the memory alive."""

    def __init__(self, attribute: str, memory: Memory, typestr: str) -> None:
        self.keep = memory
        interface = {
            "version": 3 if attribute == "__array_interface__" else 2,  # 2: nothing is said of streams
            "shape": memory.shape,
            "strides": memory.strides,
            "typestr": typestr,
            "data": (memory.address, False),
        }
        setattr(self, attribute, interface)


def tensor_of(plane: Plane, device: int | None = None) -> Any:
    """Return a plane's own tensor, or one over the memory of another library's array.

    Parameters
    ----------
    plane : Plane
    device : int, optional
        The ordinal of the device that device memory is on.

    Raises
    ------
    PlaneError
        torch cannot describe such memory: of negative strides, of a dtype it has not, of another device.
    """
    torch: Any = sys.modules["torch"]
    array, memory = plane.access.array, plane.memory
    if isinstance(array, torch.Tensor):
        return array
    narrow = memory.dtype == "bfloat16"
    try:
        typestr = np.dtype("int16" if narrow else memory.dtype).str
        if memory.device[0] == "cpu":
            found = torch.from_numpy(np.asarray(_Described("__array_interface__", memory, typestr)))
        elif memory.device[0] == "cuda":
            described = _Described("__cuda_array_interface__", memory, typestr)
            found = torch.as_tensor(described, device=f"cuda:{memory.device[1] if device is None else device}")
        else:
            raise TypeError(f"torch shares no memory with device {memory.device[0]!r}")
        return found.view(torch.bfloat16) if narrow else found
    except (TypeError, ValueError, RuntimeError) as error:
        raise PlaneError(
            f"torch cannot use a {type(array).__name__} of {memory.dtype} and strides {list(memory.strides)}",
            why=f"{type(error).__name__}: {str(error).splitlines()[0]}",
            fix="Pass a tensor, or a contiguous array of a dtype of torch's.",
            planes=(plane.access.name,),
        ) from error
