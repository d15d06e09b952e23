"""CuPy's arrays: read by ``__cuda_array_interface__``, made by CuPy."""

from __future__ import annotations

import sys

from eagle.plugin import CudaInterfaceArrays

__all__ = ["CupyArrays"]


class CupyArrays(CudaInterfaceArrays):
    """Adapter of ``cupy.ndarray``, on whichever device it is."""

    def claims(self, array: object, /) -> bool:
        """Whether it is an array of CuPy's, which is imported then."""
        cupy = sys.modules.get("cupy")
        return cupy is not None and isinstance(array, cupy.ndarray)

    def empty(self, like: object, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate with `cupy.empty`, on the device of `like`."""
        cupy = sys.modules["cupy"]
        with like.device:  # type: ignore[attr-defined]
            made: object = cupy.empty(shape, dtype)
        return made
