"""A kernel's signature in words, and the arrays that a call may leave to eagle."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from eagle.errors import EagleError
from eagle.plugin import Argument, Kernel, adapter_of

__all__ = ["described", "with_outputs"]


def described(argument: Argument) -> str:
    """Say in words what has to be bound to an argument for n samples."""
    if argument.role == "param":
        return f"a number ({argument.dtype})"
    if argument.role == "table":
        axes = ", ".join("any" if size < 0 else str(size) for size in argument.shape)
        return f"a table of {argument.dtype}, shape ({axes}), read"
    verb = {"r": "read", "w": "written", "rw": "updated"}[argument.mode]
    shape = "(n,)" if not argument.shape else f"({prod(argument.shape)}, n)"
    what = "the mask of samples that are done, " if argument.role == "mask" else ""
    return f"{what}{argument.dtype}, shape {shape}, {verb}"


def with_outputs(kernel: Kernel, planes: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """Return `planes` with the outputs and the mask that are missing, made like the first array, and their names."""
    given = dict(planes)
    missing = [
        one
        for one in kernel.arguments
        if one.name not in given and (one.role == "mask" or (one.role == "sample" and one.mode == "w"))
    ]
    like = next((given[one.name] for one in kernel.arguments if one.role == "sample" and one.name in given), None)
    if like is None or not missing:
        return given, []
    try:
        adapter = adapter_of(like)
    except EagleError as error:
        first = next(one.name for one in kernel.arguments if one.role == "sample" and one.name in given)
        error.locate(plane=first)
        error.what = f"kernel {kernel.name!r} cannot take it: {error.what}"
        raise
    samples = _length(kernel, given)
    for argument in missing:
        shape = (prod(argument.shape), samples) if argument.shape else (samples,)
        array = adapter.empty(like, shape, argument.dtype)
        if argument.role == "mask" or not argument.total:
            adapter.clear(array)
        given[argument.name] = array
    return given, [one.name for one in missing]


def _length(kernel: Kernel, given: Mapping[str, object]) -> int:
    """Return how many samples the planes that are there have; what does not fit is left to `bind` to refuse."""
    for argument in kernel.arguments:
        if argument.role in ("sample", "mask") and argument.name in given:
            shape = adapter_of(given[argument.name]).describe(given[argument.name]).shape
            components = prod(argument.shape)
            if argument.shape and len(shape) == 2 and shape[0] != components:
                return shape[0]
            if shape:
                return shape[-1]
    return 0
