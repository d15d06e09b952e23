"""The kernel language: a Python function over one sample, which eagle runs over many."""

from hawk import math as math
from hawk.annotations import (
    Bool,
    Index,
    Int32,
    Matrix,
    Mutable,
    Param,
    Quat,
    Scalar,
    Table,
    Terminated,
    UInt32,
    Vector,
)
from hawk.errors import KernelError, KernelUseError
from hawk.kernel import KernelFunction, kernel
from hawk.vectors import matrix, vector

__all__ = [
    "Bool",
    "Index",
    "Int32",
    "KernelError",
    "KernelFunction",
    "KernelUseError",
    "Matrix",
    "Mutable",
    "Param",
    "Quat",
    "Scalar",
    "Table",
    "Terminated",
    "UInt32",
    "Vector",
    "kernel",
    "matrix",
    "vector",
]
