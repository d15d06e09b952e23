"""What a native step runs that is compiled from a kernel of the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle.plugin import Kernel

__all__ = ["Launched"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Launched:
    """A kernel and what it is launched with: enough to compile it anew as part of a larger one.

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
