"""``reduce``: a 1-D array into one element, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable

from eagle.access import footprint, overlap
from eagle.errors import GraphError, GraphTypeError, PlaneError
from eagle.graph.copy import described
from eagle.graph.payloads import Reduce
from eagle.plugin.nodes import Access, Node
from eagle.plugin.suggestions import did_you_mean

__all__ = ["OPS", "reduce", "reduce_access"]

_NUMBERS = ("float64", "float32", "int64", "int32")
OPS = {"sum": _NUMBERS, "max": _NUMBERS, "min": _NUMBERS, "all": ("bool",), "any": ("bool",)}
"""Every operation with the dtypes it takes."""


def reduce(x: object, out: object, op: str = "sum", *, name: str | None = None) -> Node[Reduce]:
    """Make a node that reduces `x` to the one element of `out`.

    A ``"sum"`` of floats adds in one documented order, so that its bits depend neither on the number of threads nor
    on the backend; float32 is added in float64 and rounded once. Integers wrap. ``"max"`` and ``"min"`` give NaN if
    there is one, and count +0 as larger than -0. Of no elements, ``"sum"`` is 0, ``"all"`` true and ``"any"`` false.

    Parameters
    ----------
    x : array, shape (n,)
        float64, float32, int64 or int32; bool for ``"all"`` and ``"any"``. Any stride.
    out : array of one element
        Of the dtype of `x`, and not part of it. It is overwritten.
    op : {"sum", "max", "min", "all", "any"}
    name : str, optional
        Its label.

    Raises
    ------
    GraphError
        There is no such `op`.
    PlaneError
        When it is added: an array of another shape or dtype, or `out` inside `x`.
    BuildError
        At build: the ``"max"`` or ``"min"`` of no elements.
    """
    if not isinstance(op, str):
        raise GraphTypeError(f"op is one of {', '.join(OPS)}, not {op!r}")
    if op not in OPS:
        raise GraphError(f"reduce has no op {op!r}", fix=did_you_mean(op, OPS) or f"It has {', '.join(OPS)}.")
    return Node("reduce", Reduce(x=x, out=out, op=op), name)


def reduce_access(node: Node[Reduce]) -> Iterable[Access]:
    """Check the two arrays against each other and `op`, and return them as planes."""
    payload = node.payload
    x, out = described(payload.x, "x"), described(payload.out, "out")
    if len(x.shape) != 1:
        raise PlaneError(
            f"reduce takes a 1-D array, and this one has shape {x.shape}",
            fix="Pass a view of one axis, such as x.reshape(-1) of a contiguous array.",
            planes=("x",),
        )
    if x.dtype not in OPS[payload.op]:
        raise PlaneError(
            f"the {payload.op} of {x.dtype} is not defined", fix=f"Pass {' or '.join(OPS[payload.op])}.", planes=("x",)
        )
    if any(count != 1 for count in out.shape) or out.dtype != x.dtype:
        raise PlaneError(
            f"reduce writes one element of {x.dtype}, and out is {out.dtype}{list(out.shape)}",
            fix=f"Pass np.zeros(1, {x.dtype!r}) or its like.",
            planes=("out",),
        )
    if overlap(footprint(x), footprint(out)):
        raise PlaneError("out is part of x", fix="Give the result memory of its own.", planes=("out",))
    return (
        Access(name="x", array=payload.x, mode="r", axis=0),
        Access(name="out", array=payload.out, mode="w", total=True),
    )
