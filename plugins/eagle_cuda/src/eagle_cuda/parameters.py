"""What a kernel takes, asked of the compiled function: the driver reads as many bytes as it takes, unasked."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

from eagle.plugin import BuildError
from eagle_cuda.abilities import Abilities
from eagle_cuda.driver import abilities, call
from eagle_cuda.errors import CudaError

__all__ = ["check_parameters", "refuse_too_large"]


def check_parameters(function: Any, kinds: Sequence[Any], driver: Abilities, name: str = "a kernel") -> None:
    """Compare the sizes of what is passed with those of what a function takes, where the driver tells.

    Parameters
    ----------
    function : CUfunction
    kinds : sequence of ctypes type
    driver : Abilities
        What the driver can do.
    name : str
        What messages call the function.

    Raises
    ------
    BuildError
        They differ.
    """
    if not driver.tells_parameters:
        return
    taken, passed = _taken(function), tuple(ctypes.sizeof(kind) for kind in kinds)
    if taken != passed:
        raise BuildError(
            f"{name} takes parameters of {list(taken)} bytes, and {list(passed)} would be passed",
            why="the driver would read as many bytes as it takes, whatever they are",
            fix="Describe a compiled kernel by the arguments it has; for eagle's own, delete its cache.",
        )


def refuse_too_large(name: str, passed: Sequence[tuple[Any, Any]], further: int) -> None:
    """Refuse more parameters than a kernel can have with the driver of this process.

    Parameters
    ----------
    name : str
        The kernel's.
    passed : sequence of (value, ctypes type)
        What stands for its arguments.
    further : int
        How many parameters of 8 bytes come behind those.

    Raises
    ------
    BuildError
    """
    size = 0
    for kind in (*(kind for _, kind in passed), *[ctypes.c_longlong] * further):
        width = ctypes.sizeof(kind)
        size = -(-size // width) * width + width
    most = abilities().most_parameter_bytes
    if size > most:
        raise BuildError(
            f"kernel {name!r} takes {size} bytes of parameters",
            why=f"with a driver for CUDA {abilities().cuda} a kernel takes {most} bytes at most: 8 for each plane, and "
            "8 for the rows of a vector or an axis of a table",
            fix="Make vectors of planes that belong together, or kernels of its parts.",
        )


@functools.lru_cache(maxsize=1024)
def _taken(function: Any) -> tuple[int, ...]:
    sizes: list[int] = []
    while True:
        try:
            sizes.append(int(call("cuFuncGetParamInfo", function, len(sizes))[1]))
        except CudaError as error:
            if error.code != 1:  # CUDA_ERROR_INVALID_VALUE: there is no such parameter
                raise
            return tuple(sizes)
