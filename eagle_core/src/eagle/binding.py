"""Checking arrays and numbers against a kernel's signature, once, so that launching checks nothing but moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from numbers import Integral, Real
from typing import Any

import numpy as np

from eagle.access import footprint, overlap
from eagle.errors import EagleError, PlaneError, PlaneTypeError
from eagle.plugin import Argument, Kernel, Memory, adapter_of
from eagle.plugin.suggestions import did_you_mean

__all__ = ["Binding", "bind", "number_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Arrays and numbers that fit a kernel.

    Attributes
    ----------
    arrays : dict of str to array
        As the kernel can read them, component-major.
    params : dict of str to number
    samples : int
    copied : dict of str to array
        The arrays as they were given, of planes that had to be laid out anew.
    """

    arrays: dict[str, object]
    params: dict[str, float | int | bool]
    samples: int
    copied: dict[str, object]


def bind(kernel: Kernel, given: Mapping[str, object]) -> Binding:
    """Check everything about `given` against the signature of `kernel`.

    Raises
    ------
    PlaneError
        A name is missing or unknown; an array has another dtype, shape, length or device, is misaligned, read-only
        where it is written, or overlaps another one in a way whose result would depend on the schedule.
    PlaneTypeError
        Something that is no array, or no number, where one is needed.
    """
    _check_names(kernel, given)
    params: dict[str, float | int | bool] = {}
    planes: dict[str, _Plane] = {}
    for argument in kernel.arguments:
        try:
            if argument.role == "param":
                params[argument.name] = number_for(argument, given[argument.name])
            else:
                planes[argument.name] = _plane(kernel, argument, given[argument.name])
        except EagleError as error:
            error.locate(plane=argument.name)
            if repr(kernel.name) not in error.what:
                error.what = f"kernel {kernel.name!r} cannot take it: {error.what}"
            raise
    planes = _shared_copies(planes)
    samples = _samples(kernel, planes)
    _check_devices(planes)
    _check_aliasing(planes)
    return Binding(
        arrays={name: plane.array for name, plane in planes.items()},
        params=params,
        samples=samples,
        copied={name: given[name] for name, plane in planes.items() if plane.copied},
    )


@dataclass(frozen=True, slots=True)
class _Plane:
    """An array as the kernel takes it, and the memory it was given in, which decides what overlaps."""

    argument: Argument
    array: object
    memory: Memory
    samples: int | None
    copied: bool


def _check_names(kernel: Kernel, given: Mapping[str, object]) -> None:
    names = [argument.name for argument in kernel.arguments]
    for name in given:
        if name not in names:
            raise PlaneError(
                f"kernel {kernel.name!r} has no argument {name!r}",
                fix=did_you_mean(name, names) or f"It has {', '.join(names)}.",
                planes=(name,),
            )
    missing = [name for name in names if name not in given]
    if missing:
        raise PlaneError(
            f"kernel {kernel.name!r} needs {', '.join(missing)} too", fix="Bind every argument.", planes=missing
        )


def number_for(argument: Argument, value: object) -> float | int | bool:
    """Return a number that fits an argument's type, exactly or rounded to its float.

    Raises
    ------
    PlaneTypeError
        It is no number, or not whole where an integer is needed.
    PlaneError
        It is too large.
    """
    if isinstance(value, np.ndarray):
        raise PlaneTypeError("a param is passed by value, and this is an array", fix="Pass a number, or array.item().")
    if argument.dtype == "bool":
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        raise PlaneTypeError(f"a bool is needed, not {value!r}")
    if argument.dtype.startswith("float"):
        if isinstance(value, (Real, np.floating, np.integer)):
            try:
                return float(value)
            except OverflowError:
                raise PlaneError("the number is too large for a float") from None
        raise PlaneTypeError(f"a number is needed, not {value!r}")
    if not isinstance(value, (Integral, np.integer)):
        raise PlaneTypeError(f"an integer is needed, not {value!r}")
    limits = np.iinfo(argument.dtype)
    if not limits.min <= int(value) <= limits.max:
        raise PlaneError(f"{value} does not fit in {argument.dtype}")
    return int(value)


def _plane(kernel: Kernel, argument: Argument, array: object) -> _Plane:
    memory = adapter_of(array).describe(array)
    if memory.dtype != argument.dtype:
        other = {"float64": "float32", "float32": "float64"}.get(memory.dtype)
        hint = f" or deploy(kernel, scalar={memory.dtype!r})" if other == argument.dtype else ""
        raise PlaneError(
            f"kernel {kernel.name!r} needs {argument.dtype}, and the array is {memory.dtype}",
            why="nothing is converted behind your back",
            fix=f"Pass an array of {argument.dtype}{hint}.",
        )
    if argument.mode != "r" and memory.readonly is not None:
        raise PlaneError(f"kernel {kernel.name!r} writes it, and {memory.readonly}")
    if memory.address % memory.itemsize or any(s % memory.itemsize for s in memory.strides):
        raise PlaneError(
            f"its elements are not aligned to {memory.itemsize} bytes",
            fix="Pass an aligned array, such as array.copy().",
        )
    if argument.role == "table":
        return _table(argument, array, memory)
    return _per_sample(argument, array, memory)


def _table(argument: Argument, array: object, memory: Memory) -> _Plane:
    wanted = argument.shape
    fits = len(memory.shape) == len(wanted) and all(
        want in (-1, have) for want, have in zip(wanted, memory.shape, strict=True)
    )
    if not fits:
        axes = ", ".join("any" if size < 0 else str(size) for size in wanted)
        raise PlaneError(f"a table of shape ({axes}) is needed, and the array has shape {memory.shape}")
    if not memory.is_contiguous:
        raise PlaneError("a table has to be contiguous", fix="Pass np.ascontiguousarray(array).")
    return _Plane(argument, array, memory, None, False)


def _per_sample(argument: Argument, array: object, memory: Memory) -> _Plane:
    """Take (n,) for a scalar, (components, n) or (*shape, n) else; lay out anew what is sample-major or strided."""
    components, axes = prod(argument.shape), len(argument.shape)
    shape = memory.shape
    if not argument.shape and len(shape) == 1:
        return _laid_out(argument, array, memory, shape[0], np.asarray)
    if argument.shape and len(shape) == 2 and shape[0] == components:
        return _laid_out(argument, array, memory, shape[1], np.asarray)
    if axes == 2 and len(shape) == 3 and shape[:2] == argument.shape:
        if not isinstance(array, np.ndarray) and hasattr(array, "reshape"):
            rows = array.reshape(components, shape[2])
            seen = adapter_of(rows).describe(rows)
            if seen.address == memory.address:  # else the library has made a copy
                return _laid_out(argument, rows, seen, shape[2], np.asarray)
        return _laid_out(argument, array, memory, shape[2], lambda a: np.asarray(a).reshape(components, -1))
    if argument.shape and len(shape) == 2 and shape[1] == components:
        return _laid_out(argument, array, memory, shape[0], lambda a: np.asarray(a).T)
    wanted = "(n,)" if not argument.shape else f"({components}, n)"
    raise PlaneError(f"an array of shape {wanted} for n samples is needed, and this one has shape {shape}")


def _laid_out(argument: Argument, array: object, memory: Memory, samples: int, view: Any) -> _Plane:
    if len(memory.shape) <= 2 and view is np.asarray and memory.has_contiguous_rows:
        return _Plane(argument, array, memory, samples, False)
    if not isinstance(array, np.ndarray):
        raise PlaneError(
            "its samples are not contiguous in memory",
            fix="Pass one whose last axis is contiguous and holds them, a matrix as rows of components.",
        )
    viewed: np.ndarray[Any, Any] = view(array)
    shared = np.may_share_memory(viewed, array) or not viewed.size  # reshaping may have made a copy
    if shared and (viewed.strides[-1] == viewed.itemsize or samples <= 1):
        return _Plane(argument, viewed, adapter_of(viewed).describe(viewed), samples, False)
    laid_out = np.ascontiguousarray(viewed)
    return _Plane(argument, laid_out, memory, samples, True)


def _shared_copies(planes: dict[str, _Plane]) -> dict[str, _Plane]:
    """Let planes that were given the same memory and have to be laid out anew share one copy, as they share it."""
    first: dict[tuple[object, ...], object] = {}
    shared = {}
    for name, plane in planes.items():
        memory = plane.memory
        key = (memory.address, memory.shape, memory.strides, memory.dtype)
        shared[name] = replace(plane, array=first.setdefault(key, plane.array)) if plane.copied else plane
    return shared


def _samples(kernel: Kernel, planes: Mapping[str, _Plane]) -> int:
    lengths = {name: plane.samples for name, plane in planes.items() if plane.samples is not None}
    if not lengths:
        raise PlaneError(f"kernel {kernel.name!r} has no plane that says how many samples there are")
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise PlaneError(
            f"the planes of kernel {kernel.name!r} have different numbers of samples",
            why=each,
            fix="Give every plane one length; a single number for all is np.full(n, value), or a Param.",
            planes=lengths,
        )
    return next(iter(lengths.values()))


def _check_devices(planes: Mapping[str, _Plane]) -> None:
    first: tuple[str, str] | None = None
    for name, plane in planes.items():
        device = plane.memory.device[0]
        if first is None:
            first = name, device
        elif device != first[1]:
            raise PlaneError(
                f"plane {first[0]!r} is in {first[1]} memory and plane {name!r} in {device} memory",
                fix="Bind arrays of one device.",
                planes=(first[0], name),
            )


def _check_aliasing(planes: Mapping[str, _Plane]) -> None:
    """Refuse overlaps of a written plane, unless both are per sample over the very same elements."""
    footprints = {name: footprint(plane.memory) for name, plane in planes.items()}
    for name, plane in planes.items():
        if plane.argument.mode != "r":
            _refuse_self_overlap(name, plane.memory)
            for other, against in planes.items():
                once = other != name and (against.argument.mode == "r" or other > name)
                if once and overlap(footprints[name], footprints[other]):
                    _refuse_overlap(name, plane, other, against)


def _refuse_overlap(name: str, plane: _Plane, other: str, against: _Plane) -> None:
    """Refuse two planes that overlap, but for one read where the other is written, element for element."""
    a, b = plane.memory, against.memory
    per_sample = "table" not in (plane.argument.role, against.argument.role)
    both_written = against.argument.mode != "r"
    same = (a.address, a.shape, a.strides, a.itemsize) == (b.address, b.shape, b.strides, b.itemsize)
    if same and per_sample and not both_written:
        return
    raise PlaneError(
        f"the kernel writes plane {name!r}, which overlaps plane {other!r}",
        why="the result would depend on the order in which samples are run",
        fix="Give them separate memory; an output may be the very same array as an input.",
        planes=(name, other),
    )


def _refuse_self_overlap(name: str, memory: Memory) -> None:
    from eagle.graph.copy import refuse_self_overlap

    refuse_self_overlap(memory, name)
