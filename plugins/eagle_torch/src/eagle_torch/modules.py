"""``module``: a torch module as a node."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from eagle.errors import GraphTypeError, PlaneError
from eagle.plugin import Node
from eagle_torch.nodes import MODULE, Module

__all__ = ["module"]


def module(model: Any, reads: object, writes: object, *, name: str | None = None) -> Node[Module]:
    """Make a node of a torch module: ``model(*reads)``, in inference mode, its outputs copied into `writes`.

    The planes may be tensors or arrays of any library, which the module is given as tensors over the same memory.
    On the CPU it is a plain call. On a GPU the module is run a few times at the build, with what the arrays hold then
    and without writing them, in a pool of memory of its own; then it is captured, and replayed without allocating.
    Weights are read where they are, so that an optimizer's step in place is seen by the next launch.

    Parameters
    ----------
    model : torch.nn.Module
        In evaluation mode. It draws no random numbers and changes none of its inputs and buffers.
    reads : mapping, list or tensor
        What it is called with, by position, in this order. Names are for messages and pictures.
    writes : mapping, list or tensor
        Where its outputs go: one output for one plane; a tuple or list in this order; or a mapping by these names.
        Each has the shape, dtype and device of its plane; nothing is broadcast or converted.
    name : str, optional
        Its label; by default the name of its class.

    Raises
    ------
    GraphTypeError
        It is no module, or there are no arrays where some are needed.
    PlaneError
        Its parameters are on several devices, or on another one than its planes.

    Notes
    -----
    An output of another shape or dtype, and a module in training mode, are refused by name: at the build on a GPU, at
    the launch on the CPU.
    """
    torch = sys.modules["torch"]
    if not isinstance(model, torch.nn.Module):
        raise GraphTypeError(
            f"module takes a torch.nn.Module, not {model!r}",
            fix="Any other callable is a node by eagle.graph.opaque(fn, reads=..., writes=...).",
        )
    payload = Module(model=model, reads=_named(reads, "reads", "in"), writes=_named(writes, "writes", "out"))
    _refuse_mixed(payload)
    return Node(MODULE, payload, name or type(model).__name__)


def _named(planes: object, keyword: str, default: str) -> Mapping[str, object]:
    if isinstance(planes, Mapping):
        named = dict(planes)
    elif isinstance(planes, (list, tuple)):
        named = {f"{default}{number}": array for number, array in enumerate(planes)}
    else:
        named = {f"{default}0": planes}
    if not named or any(array is None for array in named.values()):
        raise GraphTypeError(f"a module needs {keyword}=", fix=f"Pass the arrays: {keyword}={{'x': x}}.")
    if bad := [one for one in named if not isinstance(one, str) or not one]:
        raise GraphTypeError(f"{keyword}= names a plane {bad[0]!r}", fix="Plane names are strings: {'x': x}.")
    return named


def _refuse_mixed(payload: Module) -> None:
    """Raise `PlaneError` unless every parameter, buffer and tensor is on one device."""
    tensor = sys.modules["torch"].Tensor
    first: tuple[str, Any] | None = None
    planes = [(f"plane {name!r}", name, array) for name, array in {**payload.reads, **payload.writes}.items()]
    weights = [(f"parameter {name!r}", name, one) for name, one in payload.model.named_parameters()]
    buffers = [(f"buffer {name!r}", name, one) for name, one in payload.model.named_buffers()]
    for what, name, array in (*planes, *weights, *buffers):
        if not isinstance(array, tensor):
            continue
        if first is None:
            first = what, array.device
        elif array.device != first[1]:
            raise PlaneError(
                f"{what} of the module is on {array.device}, and {first[0]} on {first[1]}",
                fix="Move the model with model.to(device) before it becomes a node, or pass tensors of its device.",
                planes=(name,),
            )
