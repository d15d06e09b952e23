"""A Warp kernel in a graph: recorded once by the build, launched by the host, or captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import warp

from eagle.plugin import Memory, Placed, PlaneError, Step, adapter_of
from eagle_warp.arrays import WarpArrays, elements_of
from eagle_warp.payload import WarpLaunch

__all__ = ["lower_cpu", "lower_gpu"]

_ARRAYS = WarpArrays()


def lower_cpu(placed: Placed[WarpLaunch], context: Any) -> Step:
    """Launch it on the calling thread, after a check that no plane has moved."""
    for plane in placed.planes:
        context.reached(plane)
    return context.over_memory(placed, _recorded(placed, "cpu", context))  # type: ignore[no-any-return]


def lower_gpu(placed: Placed[WarpLaunch], context: Any) -> Step:
    """Have it captured, on the stream that is made Warp's current one meanwhile."""
    return context.call(_recorded(placed, f"cuda:{context.device}", context))  # type: ignore[no-any-return]


def _recorded(placed: Placed[WarpLaunch], device: str, context: Any) -> Callable[[], object]:
    """Return what launches it: Warp's record of the launch, with its module loaded and its arguments packed."""
    payload = placed.node.payload
    arguments = [
        _argument(parameter, value, device)
        for parameter, value in zip(payload.kernel.adj.args, payload.arguments, strict=True)
    ]
    command = warp.launch(
        payload.kernel,
        payload.dim,
        inputs=arguments,
        device=device,
        block_dim=payload.block_dim,
        record_cmd=True,
        record_tape=False,
    )
    context.keep(command, arguments)
    return _nothing if command is None else command.launch


def _nothing() -> None:
    """Launch no thread."""


def _argument(parameter: Any, value: Any, device: str) -> Any:
    if value is None or not warp.types.is_array(parameter.type) or _ARRAYS.claims(value):
        return value
    return _over(adapter_of(value).describe(value), parameter, device)


def _over(memory: Memory, parameter: Any, device: str) -> Any:
    """Return a Warp array over memory of another library.

    Raises
    ------
    PlaneError
        The kernel is generic, and does not say how many of the last axes are one element.
    """
    kind = parameter.type
    dtype, inner = kind.dtype, elements_of(kind).inner
    if elements_of(kind).dtype is None:
        if len(memory.shape) != kind.ndim:
            raise PlaneError(
                f"the kernel takes elements of any kind along {kind.ndim} axes, and the array has {len(memory.shape)}",
                fix="Pass an array of Warp's, which says what its elements are.",
                planes=(parameter.label,),
            )
        dtype = getattr(warp, memory.dtype)
    axes = len(memory.shape) - len(inner)
    return warp.array(
        ptr=memory.address or None,
        dtype=dtype,
        shape=memory.shape[:axes],
        strides=memory.strides[:axes],
        device=device,
        copy=False,
    )
