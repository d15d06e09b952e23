"""Building a function, one instruction after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from eagle.plugin import Argument
from eagle_ir.operations import OPERATIONS, result_type
from eagle_ir.program import (
    Block,
    Compute,
    Const,
    Function,
    Gather,
    If,
    Instruction,
    Load,
    Number,
    Parameter,
    Site,
    Store,
    Value,
    While,
)
from eagle_ir.types import Type

__all__ = ["Builder"]


class Builder:
    """Makes the instructions of one function, numbering values, in the block that is open.

    Parameters
    ----------
    name : str
    arguments : sequence of Argument
    """

    def __init__(self, name: str, arguments: Sequence[Argument]) -> None:
        self.name = name
        self.arguments = tuple(arguments)
        self._blocks: list[list[Instruction]] = [[]]
        self._stores: list[Store] = []
        self._sites: dict[Site, int] = {}
        self._count = 0

    def const(self, number: Number, type: Type) -> Value:  # noqa: A002 - it is the value's type
        """A number of the given type; a float is rounded to it, an integer has to fit."""
        if type is Type.F32:
            number = float(type.dtype.type(number))
        elif type is Type.F64:
            number = float(number)
        elif type is Type.BOOL:
            number = bool(number)
        else:
            number = int(number)
        return self._emit(lambda result: Const(result, number), type)

    def parameter(self, argument: str) -> Value:
        """The number passed for a param."""
        return self._emit(lambda result: Parameter(result, argument), self._type(argument))

    def load(self, argument: str, component: int = 0) -> Value:
        """One component of this sample's value of a plane."""
        return self._emit(lambda result: Load(result, argument, component), self._type(argument))

    def gather(self, argument: str, indices: Sequence[Value], site: Site) -> Value:
        """An element of a table at int64 indices."""
        number = self._site(site)
        return self._emit(lambda result: Gather(result, argument, tuple(indices), number), self._type(argument))

    def compute(self, op: str, *operands: Value, site: Site | None = None, gives: Type | None = None) -> Value:
        """An operation; `gives` states what a conversion converts to, `site` is needed by one that can fault."""
        type_ = result_type(op, [operand.type for operand in operands], gives)
        number = self._site(site) if site is not None and OPERATIONS[op].faults else None
        return self._emit(lambda result: Compute(result, op, tuple(operands), number), type_)

    def if_(
        self, condition: Value, then: Callable[[], Sequence[Value]], orelse: Callable[[], Sequence[Value]]
    ) -> tuple[Value, ...]:
        """Two blocks, each built by a callable that returns what it yields, of the same types."""
        first, second = self._block(then), self._block(orelse)
        types = [value.type for value in first.yields]
        if types != [value.type for value in second.yields]:
            raise TypeError("the two blocks of an if yield different types")
        results = tuple(self._value(type_) for type_ in types)
        self._blocks[-1].append(If(results, condition, first, second))
        return results

    def while_(
        self,
        initial: Sequence[Value],
        condition: Callable[[tuple[Value, ...]], Value],
        body: Callable[[tuple[Value, ...]], Sequence[Value]],
    ) -> tuple[Value, ...]:
        """A loop; `condition` and `body` are given the carried values and build their block."""
        arguments = tuple(self._value(value.type) for value in initial)
        test = self._block(lambda: [condition(arguments)])
        step = self._block(lambda: body(arguments))
        if [value.type for value in step.yields] != [value.type for value in arguments]:
            raise TypeError("the body of a while yields other types than it carries")
        results = tuple(self._value(value.type) for value in initial)
        self._blocks[-1].append(While(results, tuple(initial), arguments, test, step))
        return results

    def store(self, argument: str, value: Value, component: int = 0) -> None:
        """Write a component of this sample's value; the last store to it counts."""
        self._stores = [one for one in self._stores if (one.argument, one.component) != (argument, component)]
        self._stores.append(Store(argument, value, component))

    def finish(self) -> Function:
        """Return the function, verified."""
        from eagle_ir.verify import verify

        (instructions,) = self._blocks
        function = Function(self.name, self.arguments, Block((*instructions, *self._stores)), tuple(self._sites))
        verify(function)
        return function

    @contextmanager
    def _open(self) -> Iterator[list[Instruction]]:
        self._blocks.append([])
        try:
            yield self._blocks[-1]
        finally:
            self._blocks.pop()

    def _block(self, build: Callable[[], Sequence[Value]]) -> Block:
        with self._open() as instructions:
            yields = tuple(build())
            return Block(tuple(instructions), yields)

    def _emit(self, make: Callable[[Value], Instruction], type_: Type) -> Value:
        result = self._value(type_)
        self._blocks[-1].append(make(result))
        return result

    def _value(self, type_: Type) -> Value:
        self._count += 1
        return Value(self._count, type_)

    def _site(self, site: Site) -> int:
        return self._sites.setdefault(site, len(self._sites))

    def _type(self, argument: str) -> Type:
        return Type(next(one for one in self.arguments if one.name == argument).dtype)
