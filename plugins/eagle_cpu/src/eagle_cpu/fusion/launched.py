"""What a native step does, in a form that it can be compiled from anew, as part of a larger one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import Kernel

__all__ = ["Launched", "Reduced"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launched:
    """A kernel and what it is launched with.

    Attributes
    ----------
    kernel : Kernel
    arrays : mapping of str to ndarray
        One per argument that is no param.
    params : mapping of str to number
    """

    kernel: Kernel
    arrays: Mapping[str, np.ndarray[Any, Any]]
    params: Mapping[str, float | int | bool]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reduced:
    """A reduction of elements that lie one behind the other.

    Attributes
    ----------
    op : {"sum", "max", "min", "all", "any"}
    x : ndarray, shape (n,)
    state, take : int
        The addresses of the reduction and of what takes in a block (`eagle_cpu._native.Reduction`).
    """

    op: str
    x: np.ndarray[Any, Any]
    state: int
    take: int
