"""Making vectors and matrices inside a kernel."""

from __future__ import annotations

from typing import Any

from hawk.errors import KernelUseError

__all__ = ["matrix", "vector"]


def vector(*elements: Any) -> Any:
    """Make a vector of its elements, inside a kernel: ``hawk.vector(x, y, z)``, the same as ``[x, y, z]``."""
    raise KernelUseError("hawk.vector() makes vectors inside kernels only", fix="Outside use numpy.array")


def matrix(*rows: Any) -> Any:
    """Make a matrix of its rows, inside a kernel: ``hawk.matrix((a, b), (c, d))``, the same as ``[[a, b], [c, d]]``."""
    raise KernelUseError("hawk.matrix() makes matrices inside kernels only", fix="Outside use numpy.array")
