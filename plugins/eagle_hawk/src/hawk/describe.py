"""What a kernel says of itself when it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from eagle.plugin import Argument
from hawk.annotations import Annotation

__all__ = ["described"]


def described(name: str, arguments: Iterable[Argument], annotations: Mapping[str, Annotation]) -> str:
    """Return a table of the arguments: what each is, and the array it needs for n samples."""
    rows = [
        (one.name, annotations[one.name].text if one.name in annotations else "returned", _role(one), _plane(one))
        for one in arguments
    ]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [
        "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]
    return "\n".join([f"kernel {name}", *lines])


def _role(argument: Argument) -> str:
    if argument.role == "sample":
        return {"r": "read", "w": "written", "rw": "read and written"}[argument.mode]
    return {"mask": "mask, read and written", "table": "table", "param": "number"}[argument.role]


def _plane(argument: Argument) -> str:
    """Say what array an argument needs."""
    if argument.role == "param":
        return argument.dtype
    if argument.role == "table":
        axes = ["any" if size < 0 else str(size) for size in argument.shape]
        return f"{argument.dtype} ({', '.join(axes)}{',' * (len(axes) == 1)})"
    shape = f"({prod(argument.shape)}, n)" if argument.shape else "(n,)"
    return f"{argument.dtype} {shape}"
