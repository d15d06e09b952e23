"""What a module's node carries and touches. Nothing here imports torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eagle.plugin import Access, Node

__all__ = ["MODULE", "Module", "access"]

MODULE = "eagle_torch.module"


@dataclass(frozen=True, kw_only=True, eq=False)
class Module:
    """A module, the arrays it is called with, and those its outputs are copied into.

    Attributes
    ----------
    model : torch.nn.Module
    reads, writes : mapping of str to array
    """

    model: Any
    reads: Mapping[str, object]
    writes: Mapping[str, object]


def access(node: Node[Any]) -> Iterable[Access]:
    """Yield the planes of a module. Each output fills its plane, but a module that fails leaves it as it was."""
    for name, array in node.payload.reads.items():
        yield Access(name=name, array=array, mode="r")
    for name, array in node.payload.writes.items():
        yield Access(name=name, array=array, mode="w")
