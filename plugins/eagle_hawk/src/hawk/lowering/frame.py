"""One function being lowered: its source, its variables, and the instructions they become."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType

from eagle_ir import Type, Value
from hawk.annotations import Annotation
from hawk.errors import KernelError
from hawk.lowering.emitter import Emitter
from hawk.lowering.scope import Scope
from hawk.lowering.values import Element, Group, Known, Number, Shaped, Unset, Val, kind_name
from hawk.source import Source

__all__ = ["FLAGS", "RETURN", "VALUE", "Frame", "Lowering"]

RETURN, BREAK, CONTINUE, VALUE = "@return", "@break", "@continue", "@value"
FLAGS = (RETURN, BREAK, CONTINUE)
"""Variables beside the user's own: whether this path has left the function, the loop, the iteration; with what."""


@dataclass(slots=True)
class Lowering:
    """What all functions of one kernel share while it is lowered.

    Attributes
    ----------
    emitter : Emitter
    scalar : Type
        The plan's float type.
    fma : bool
        Whether products that are added to are fused.
    frozen : dict
        Constants of the surroundings, as they were when first read.
    stack : list of FunctionType
        The functions being inlined, outermost first.
    """

    emitter: Emitter
    scalar: Type
    fma: bool
    frozen: dict[tuple[FunctionType, str], object]
    stack: list[FunctionType] = field(default_factory=list)
    serial: int = 0


@dataclass(slots=True)
class Frame:
    """One function being lowered.

    Attributes
    ----------
    shared : Lowering
    source : Source
    scope : Scope
        The names around the function.
    variables : dict
        The function's own names, and the flags.
    declared : mapping of str to Annotation
        Arguments of a kernel: they keep their type, and only those that are mutable may be assigned.
    parameters : frozenset of str
        Arguments of a plain function.
    """

    shared: Lowering
    source: Source
    scope: Scope
    variables: dict[str, Val | Unset] = field(default_factory=dict)
    declared: Mapping[str, Annotation] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()

    @property
    def emitter(self) -> Emitter:
        """Where instructions go."""
        return self.shared.emitter

    @property
    def scalar(self) -> Type:
        """The plan's float type."""
        return self.shared.scalar

    def error(self, node: ast.AST, what: str, *, why: str = "", fix: str = "") -> KernelError:
        """Return the error for something at a node of the source."""
        return self.source.error(node, what, why=why, fix=fix)

    def const(self, number: float | int | bool, type_: Type) -> Number:
        """A number of a type."""
        return Number(self.emitter.const(number, type_))

    def compute(self, op: str, *operands: Number, node: ast.AST | None = None, gives: Type | None = None) -> Number:
        """An operation on numbers of one type; `node` is where it may fault."""
        values = [operand.value for operand in operands]
        site = None if node is None else self.source.site(node)
        return Number(self.emitter.compute(op, *values, site=site, gives=gives))

    def typed(self, node: ast.AST, value: Element, type_: Type) -> Number:
        """Return a number converted to a type; what may be converted is the caller's care."""
        if isinstance(value, Known):
            if type_.is_integer and not fits(int(value.number), type_):
                raise self.error(node, f"{value.number} does not fit in {kind_name(type_)}")
            try:
                return Number(self.emitter.const(value.number, type_), _known_bounds(value, type_))
            except OverflowError:
                raise self.error(node, "this whole number is too large for a float") from None
        if value.type is type_:
            return value
        if value.type.is_float and type_.is_integer:
            return self.compute("convert", value, node=node, gives=type_)
        bounds = value.bounds if type_ is Type.I64 else None
        return Number(self.compute("convert", value, gives=type_).value, bounds)

    def shaped(self, node: ast.AST, value: Group, type_: Type) -> Group:
        """Return a vector with its elements converted."""
        if value.type is type_:
            return value
        return Group(value.shape, tuple(self.typed(node, item, type_) for item in value.items))

    def zero(self, kind: Type | Shaped) -> Number | Group:
        """A value for a path on which nobody looks."""
        if isinstance(kind, Type):
            return self.const(0, kind)
        count = 1
        for size in kind.shape:
            count *= size
        zero = self.const(0, kind.type)
        return Group(kind.shape, (zero,) * count)

    def condition(self, node: ast.AST, value: Val) -> bool | Value:
        """Return a value as a condition: a constant, or a bool."""
        if isinstance(value, Known):
            return bool(value.number)
        if isinstance(value, Number):
            return self.truth(value).value
        raise self.error(node, f"{kind_name(value)} is no condition", fix="Compare numbers: v[0] > 0")

    def truth(self, value: Number) -> Number:
        """Return a number as a bool: whether it is not zero."""
        if value.type is Type.BOOL:
            return value
        return self.compute("ne", value, self.const(0, value.type))


def fits(number: int, type_: Type) -> bool:
    """Whether a whole number is one of an integer type."""
    low, high = (-(2 ** (type_.bits - 1)), 2 ** (type_.bits - 1)) if type_.is_signed else (0, 2**type_.bits)
    return bool(low <= number < high)


def _known_bounds(value: Known, type_: Type) -> tuple[int, int] | None:
    return (int(value.number), int(value.number)) if type_.is_integer else None
