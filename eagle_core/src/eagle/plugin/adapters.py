"""Which adapter reads an array: those of frameworks already imported, then NumPy's, then the array protocols'."""

from __future__ import annotations

import numpy as np

from eagle.errors import PlaneTypeError
from eagle.plugin.array_protocols import ArrayInterfaceArrays, CudaInterfaceArrays, DLPackArrays
from eagle.plugin.arrays import ArrayAdapter
from eagle.plugin.numpy_arrays import NumPyArrays

__all__ = ["adapter_of"]

_NUMPY = NumPyArrays()
_PROTOCOLS: tuple[ArrayAdapter, ...] = (_NUMPY, CudaInterfaceArrays(), ArrayInterfaceArrays(), DLPackArrays())
_NUMBERS = (bool, int, float, complex, np.generic)


def adapter_of(array: object) -> ArrayAdapter:
    """Return the adapter that reads `array`: itself if it is one, else the first that claims it.

    Raises
    ------
    PlaneTypeError
        It is None, a number, a list, or something no adapter knows; the message says what to pass instead.
    """
    if type(array) is np.ndarray:
        return _NUMPY
    if array is None or isinstance(array, (*_NUMBERS, str, bytes, list, tuple, dict, set)):
        raise _no_array(array)
    if isinstance(array, ArrayAdapter):
        return array
    from eagle.plugin.lookup import framework_adapter

    if (found := framework_adapter(array)) is not None:
        return found
    for adapter in _PROTOCOLS:
        if adapter.claims(array):
            return adapter
    raise _no_array(array)


def _no_array(array: object) -> PlaneTypeError:
    kind = type(array).__name__
    if array is None:
        return PlaneTypeError("None is not an array", fix="Pass the array the node touches, or leave the name out.")
    if isinstance(array, _NUMBERS):
        return PlaneTypeError(
            f"{array!r} ({kind}) is a number, not an array",
            why="a number passed by value has no memory that nodes could share",
            fix="Leave it out, or hold it in an array of one element.",
        )
    if isinstance(array, (list, tuple)):
        return PlaneTypeError(
            f"a {kind} is not an array",
            why="its numbers would have to be copied, and the copy is not what your code touches",
            fix="Make an array of it with np.array, and use that array in your code too.",
        )
    if isinstance(array, bytes | bytearray | memoryview):
        return PlaneTypeError(f"a {kind} is not an array", fix="Pass a view of it: np.frombuffer(...).")
    if hasattr(array, "__array__"):
        return PlaneTypeError(
            f"a {kind} offers only __array__",
            why="that may make a copy, and the copy is not what your code touches",
            fix="Pass the array that holds its memory, or install the eagle plugin for its library.",
        )
    return PlaneTypeError(
        f"a {kind} is not an array eagle can find the memory of",
        why="it is no NumPy array and offers neither __cuda_array_interface__, __array_interface__ nor __dlpack__",
        fix="Pass an array, or install the eagle plugin for its library.",
    )
