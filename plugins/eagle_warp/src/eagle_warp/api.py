"""The public module, which ``eagle.frameworks.warp`` is: it imports Warp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import index
from typing import Any

import warp as _warp

from eagle.errors import GraphError, GraphTypeError, PlaneTypeError
from eagle.plugin import Mode, Node
from eagle_warp.arrays import PLAIN, elements_of, is_structure
from eagle_warp.kernel_access import Use, uses_of
from eagle_warp.payload import KIND, KIND_WITH_HANDLES, WarpLaunch, WarpPlane

__all__ = ["launch"]

_AXES = 4  # the most that Warp launches over


def launch(
    kernel: Any,
    dim: int | Sequence[int],
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    block_dim: int | None = None,
    name: str | None = None,
) -> Node[WarpLaunch]:
    """Make a node of a launch of a Warp kernel.

    Its planes are the arrays that the kernel's annotations say it takes, under the names of its arguments: Warp's, or
    those of any library in memory the kernel can reach, in place. `inputs` are read and `outputs` written, and an
    array is both where the kernel's code does both, or may: it hands the array on to code that cannot be read, say.
    Numbers, vectors and structures are passed by value, as they are when the graph is built.

    Parameters
    ----------
    kernel : warp.Kernel
    dim : int or sequence of int
        The threads to launch, along up to four axes.
    inputs, outputs : sequence
        The arguments, in the kernel's order, as for `warp.launch`. An array may be None.
    block_dim : int, optional
        The threads of a block.
    name : str, optional
        Its label; by default the kernel's name.

    Raises
    ------
    GraphTypeError
        `kernel` is no kernel, or `dim` no sizes.
    GraphError
        Another number of arguments than the kernel has, or a size that cannot be.
    PlaneTypeError
        An array for a number, or a structure of another kind.

    Notes
    -----
    Adding the node to a graph raises `PlaneError` for an array of another dtype or number of axes than the kernel's.
    Warp checks no index: an array that is smaller than the code assumes is written past its end.
    """
    if not isinstance(kernel, _warp.Kernel):
        raise GraphTypeError(
            f"launch takes a Warp kernel, not {kernel!r}",
            fix="Decorate the function with @warp.kernel." if callable(kernel) else "",
        )
    label = kernel.func.__name__
    parameters, arguments = kernel.adj.args, (*inputs, *outputs)
    if len(arguments) != len(parameters):
        raise GraphError(
            f"kernel {label!r} takes {len(parameters)} arguments, and {len(arguments)} were given",
            why=f"it takes {', '.join(one.label for one in parameters)}",
        )
    planes: list[WarpPlane] = []
    handles = False
    uses = uses_of(kernel.adj)
    for number, (parameter, value) in enumerate(zip(parameters, arguments, strict=True)):
        _refuse_misplaced(label, parameter, value)
        planes += _planes(parameter, value, uses, output=number >= len(inputs))
        handles = handles or _may_hide_memory(parameter.type)
    payload = WarpLaunch(kernel=kernel, dim=_sizes(dim), arguments=arguments, planes=tuple(planes), block_dim=block_dim)
    return Node(KIND_WITH_HANDLES if handles else KIND, payload, name or label)


def _planes(parameter: Any, value: Any, uses: dict[str, Use], *, output: bool) -> Iterator[WarpPlane]:
    if value is None:
        return
    if _warp.types.is_array(parameter.type):
        mode = _mode(uses[parameter.label], output=output)
        yield WarpPlane(name=parameter.label, array=value, mode=mode, elements=elements_of(parameter.type))
    elif is_structure(parameter.type):
        yield from _fields(parameter.label, value, parameter.type)


def _mode(use: Use, *, output: bool) -> Mode:
    if output:
        return "rw" if use.reads else "w"
    return "rw" if use.writes else "r"


def _fields(name: str, value: Any, kind: Any) -> Iterator[WarpPlane]:
    """Yield the arrays in a structure, which the kernel may read and write."""
    for field, variable in kind.vars.items():
        held = getattr(value, field)
        if _warp.types.is_array(variable.type) and held is not None and held.ptr:
            yield WarpPlane(name=f"{name}.{field}", array=held, mode="rw")
        elif is_structure(variable.type):
            yield from _fields(f"{name}.{field}", held, variable.type)


def _refuse_misplaced(label: str, parameter: Any, value: Any) -> None:
    is_array = hasattr(value, "__array_interface__") or hasattr(value, "__cuda_array_interface__")
    is_array = is_array and not isinstance(value, _numbers())
    if is_array and not _warp.types.is_array(parameter.type):
        raise PlaneTypeError(
            f"argument {parameter.label!r} of kernel {label!r} is passed by value, and it is an array",
            fix="Pass the number it holds, or annotate the argument as an array.",
            planes=(parameter.label,),
        )
    if is_structure(parameter.type) and getattr(value, "_cls", None) is not parameter.type:
        raise PlaneTypeError(
            f"argument {parameter.label!r} of kernel {label!r} is a structure {parameter.type.key}, "
            f"not a {type(value).__name__}",
            planes=(parameter.label,),
        )


def _numbers() -> tuple[type, ...]:
    import numpy as np

    return (np.generic, bool, int, float)


def _may_hide_memory(kind: Any) -> bool:
    """Whether an argument of this type may lead to memory that no plane tells of."""
    if _warp.types.is_array(kind):
        if is_structure(kind.dtype):
            return any(_warp.types.is_array(one.type) or _may_hide_memory(one.type) for one in kind.dtype.vars.values())
        return _may_hide_memory(kind.dtype)
    if is_structure(kind):
        return any(_may_hide_memory(one.type) for one in kind.vars.values())
    scalar = getattr(kind, "_wp_scalar_type_", kind)
    return getattr(scalar, "__name__", "") not in PLAIN


def _sizes(dim: Any) -> tuple[int, ...]:
    try:
        sizes = tuple(index(one) for one in (dim if isinstance(dim, Iterable) else (dim,)))
    except TypeError:
        raise GraphTypeError(f"dim is a number of threads, or one for each axis, not {dim!r}") from None
    if not 1 <= len(sizes) <= _AXES or any(size < 0 for size in sizes):
        raise GraphError(f"dim is {dim!r}", fix=f"Give one to {_AXES} sizes of 0 or more.")
    return sizes
