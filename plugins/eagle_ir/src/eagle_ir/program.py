"""The IR: a function over one sample, typed, structured, in single-assignment form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from eagle.plugin import Argument
from eagle_ir.types import Type

__all__ = [
    "DIALECT",
    "Block",
    "Compute",
    "Const",
    "Function",
    "Gather",
    "If",
    "Instruction",
    "Load",
    "Number",
    "Parameter",
    "Site",
    "Store",
    "Value",
    "While",
]

DIALECT = "eagle-ir/1"
"""The name of this IR and its version, as a `Kernel.dialect`."""

Number: TypeAlias = float | int | bool


@dataclass(frozen=True, slots=True)
class Value:
    """The result of an instruction, or an argument of a loop; assigned once, visible in its block and those inside it.

    Attributes
    ----------
    number : int
        Its identity inside its function.
    type : Type
    """

    number: int
    type: Type

    def __hash__(self) -> int:
        return self.number


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the source, for what a kernel may raise while it runs."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Const:
    """A number. A float32 one has been rounded already."""

    result: Value
    number: Number


@dataclass(frozen=True, slots=True)
class Parameter:
    """The number passed for a param, in the type of the argument."""

    result: Value
    argument: str


@dataclass(frozen=True, slots=True)
class Load:
    """One component of this sample's value of a plane, or its mask, as it was before anything was stored."""

    result: Value
    argument: str
    component: int = 0


@dataclass(frozen=True, slots=True)
class Gather:
    """An element of a table, at int64 indices, one per axis. An index outside its axis faults and gives 0."""

    result: Value
    argument: str
    indices: tuple[Value, ...]
    site: int


@dataclass(frozen=True, slots=True)
class Compute:
    """An operation of `eagle_ir.operations`. `site` is an index into `Function.sites` when it can fault, else None."""

    result: Value
    op: str
    operands: tuple[Value, ...]
    site: int | None = None


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks; each yields one value per result. A block's values are seen outside only as results."""

    results: tuple[Value, ...]
    condition: Value
    then: Block
    orelse: Block


@dataclass(frozen=True, slots=True)
class While:
    """A loop over carried values.

    `arguments` stand for the carried values in both blocks, first `initial`, then what `body` yields. `condition`
    yields one bool, evaluated before each iteration; when it is false `results` are the carried values. What
    `condition` computes is not seen in `body`.
    """

    results: tuple[Value, ...]
    initial: tuple[Value, ...]
    arguments: tuple[Value, ...]
    condition: Block
    body: Block


@dataclass(frozen=True, slots=True)
class Store:
    """Write one component of this sample's value of a plane, or its mask. Only at the end of the outermost block."""

    argument: str
    value: Value
    component: int = 0


Instruction: TypeAlias = Const | Parameter | Load | Gather | Compute | If | While | Store


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions in order, and what the block yields to what it stands in."""

    instructions: tuple[Instruction, ...]
    yields: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel's body.

    Loads and stores stand in the outermost block only; all stores come after everything else. A component that is
    not stored keeps what it held. A sample whose mask is true on entry is neither loaded nor stored by a launch; the
    mask itself is stored as a bool. Every component of an argument that is ``total`` is stored.

    Attributes
    ----------
    name : str
    arguments : tuple of Argument
        In the order of the source; outputs last.
    body : Block
        Yields nothing.
    sites : tuple of Site
    """

    name: str
    arguments: tuple[Argument, ...]
    body: Block
    sites: tuple[Site, ...] = ()

    def argument(self, name: str) -> Argument:
        """Return the argument called `name`."""
        return next(one for one in self.arguments if one.name == name)
