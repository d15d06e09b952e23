"""What a name may stand for while a kernel is lowered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from eagle.plugin import Argument
from eagle_ir import Type, Value

__all__ = [
    "Element",
    "Group",
    "Items",
    "Kind",
    "Known",
    "Number",
    "Shaped",
    "Static",
    "TableRef",
    "Unset",
    "Val",
    "kind_name",
]


@dataclass(frozen=True, slots=True)
class Known:
    """A whole number or a truth value known while lowering; a whole number takes the type of what it meets."""

    number: int | bool

    @property
    def is_bool(self) -> bool:
        """Whether it is a truth value."""
        return isinstance(self.number, bool)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.number == other.number and self.is_bool == other.is_bool

    def __hash__(self) -> int:
        return hash((self.is_bool, self.number))


@dataclass(frozen=True, slots=True)
class Number:
    """A number the kernel computes.

    Attributes
    ----------
    value : Value
    bounds : (int, int), optional
        The least and the largest it can be, where that is known: so for the variable of a loop over a constant range.
    """

    value: Value
    bounds: tuple[int, int] | None = None

    @property
    def type(self) -> Type:
        """Its type."""
        return self.value.type


Element: TypeAlias = Known | Number


@dataclass(frozen=True, slots=True)
class Group:
    """A vector or a matrix, taken apart: its elements in row-major order, all of one type."""

    shape: tuple[int, ...]
    items: tuple[Number, ...]

    @property
    def type(self) -> Type:
        """The type of its elements."""
        return self.items[0].type


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple."""

    items: tuple[Val, ...]


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table, to be indexed."""

    argument: Argument


@dataclass(frozen=True, slots=True)
class Static:
    """Anything that is no number: a function, a module, a word."""

    thing: object


@dataclass(frozen=True, slots=True)
class Unset:
    """A variable that has no value on some path that leads here."""


Val: TypeAlias = Element | Group | Items | TableRef | Static


@dataclass(frozen=True, slots=True)
class Shaped:
    """The kind of a vector or a matrix."""

    shape: tuple[int, ...]
    type: Type


Kind: TypeAlias = "Type | Shaped | tuple[Kind, ...]"
"""What two paths have to agree on: the type of a number, the shape and type of a vector, the kinds of a tuple."""

_NAMES = {
    Type.F64: "Scalar",
    Type.F32: "Scalar",
    Type.I64: "Index",
    Type.I32: "Int32",
    Type.U32: "UInt32",
    Type.BOOL: "Bool",
}


def kind_name(what: Val | Type | Unset) -> str:
    """Say in the words of the language what a value or a type is."""
    if isinstance(what, Type):
        return _NAMES[what]
    if isinstance(what, Known):
        return "a truth value" if what.is_bool else f"the whole number {what.number}"
    if isinstance(what, Number):
        return f"a {_NAMES[what.type]}" if what.type not in (Type.I64, Type.I32) else f"an {_NAMES[what.type]}"
    if isinstance(what, Group):
        return f"a {'Vector' if len(what.shape) == 1 else 'Matrix'}[{', '.join(map(str, what.shape))}]"
    if isinstance(what, Items):
        return f"a tuple of {len(what.items)}"
    if isinstance(what, TableRef):
        return f"the table {what.argument.name}"
    if isinstance(what, Static):
        return f"{type(what.thing).__name__} {getattr(what.thing, '__name__', what.thing)!r}"
    return "unassigned"
