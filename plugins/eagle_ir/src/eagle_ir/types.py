"""The types of values: scalars. Vectors and matrices are taken apart by the front end."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

__all__ = ["Type"]


class Type(Enum):
    """The type of one value."""

    F64 = "float64"
    F32 = "float32"
    I64 = "int64"
    I32 = "int32"
    U32 = "uint32"
    BOOL = "bool"

    __hash__ = object.__hash__  # members are compared by identity; an enum's own hash is of its name, and slow

    @property
    def is_float(self) -> bool:
        """Whether it is float64 or float32."""
        return self in (Type.F64, Type.F32)

    @property
    def is_integer(self) -> bool:
        """Whether it is int64, int32 or uint32."""
        return self in (Type.I64, Type.I32, Type.U32)

    @property
    def is_signed(self) -> bool:
        """Whether it is int64 or int32."""
        return self in (Type.I64, Type.I32)

    @property
    def bits(self) -> int:
        """Its width: 64, 32, or 1 for bool."""
        return _BITS[self]

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype, which is also how planes hold it; a bool plane has one byte per sample."""
        return np.dtype(self.value)

    @property
    def short(self) -> str:
        """How the printer calls it: ``f64``, ``i32``, ``u32``, ``b1``."""
        return {"f": "f", "i": "i", "u": "u", "b": "b"}[self.value[0]] + str(self.bits)


_BITS = {Type.F64: 64, Type.F32: 32, Type.I64: 64, Type.I32: 32, Type.U32: 32, Type.BOOL: 1}
