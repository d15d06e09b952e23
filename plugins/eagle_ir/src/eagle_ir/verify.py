"""Whether a function is one: every value assigned once and seen where it is used, types as operations want them."""

from __future__ import annotations

from math import prod

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
    Parameter,
    Store,
    Value,
    While,
)
from eagle_ir.types import Type

__all__ = ["IRError", "verify"]


class IRError(ValueError):
    """A function that breaks a rule of the IR: a fault of the front end that made it."""


def verify(function: Function) -> None:
    """Raise `IRError`, naming the instruction, unless `function` keeps every rule of the IR."""
    _Verifier(function).run()


class _Verifier:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.arguments = {argument.name: argument for argument in function.arguments}
        self.assigned: set[int] = set()
        self.stored: set[tuple[str, int]] = set()

    def run(self) -> None:
        if len(self.arguments) != len(self.function.arguments):
            raise IRError(f"{self.function.name} has two arguments of one name")
        if sum(argument.role == "mask" for argument in self.function.arguments) > 1:
            raise IRError(f"{self.function.name} has two masks")
        self._block(self.function.body, frozenset(), outermost=True)
        if self.function.body.yields:
            raise IRError("the outermost block yields something")
        for argument in self.function.arguments:
            wanted = {(argument.name, component) for component in range(prod(argument.shape))}
            if argument.total and not wanted <= self.stored:
                raise IRError(f"{argument.name} is total, and not all of it is stored")

    def _block(self, block: Block, seen: frozenset[Value], *, outermost: bool = False) -> None:
        visible = set(seen)
        storing = False
        for instruction in block.instructions:
            if storing and not isinstance(instruction, Store):
                raise IRError(f"{instruction} comes after a store")
            storing = storing or isinstance(instruction, Store)
            if isinstance(instruction, (Load, Store)) and not outermost:
                raise IRError(f"{instruction} stands inside a block")
            self._instruction(instruction, visible)
        self._seen(block.yields, visible, "a block yields")

    def _instruction(self, instruction: Instruction, visible: set[Value]) -> None:
        if isinstance(instruction, If):
            self._seen((instruction.condition,), visible, "if")
            self._want(instruction.condition.type is Type.BOOL, instruction, "its condition is no bool")
            for block in (instruction.then, instruction.orelse):
                self._block(block, frozenset(visible))
                self._want(
                    _types(block.yields) == _types(instruction.results), instruction, "a block yields other types"
                )
            self._assign(instruction.results, visible)
        elif isinstance(instruction, While):
            self._while(instruction, visible)
        elif isinstance(instruction, Store):
            self._store(instruction, visible)
        else:
            self._plain(instruction, visible)
            self._assign((instruction.result,), visible)

    def _while(self, loop: While, visible: set[Value]) -> None:
        self._seen(loop.initial, visible, "while")
        self._assign(loop.arguments, inside := set(visible))
        self._block(loop.condition, frozenset(inside))
        self._block(loop.body, frozenset(inside))
        self._want(_types(loop.condition.yields) == [Type.BOOL], loop, "its condition yields no bool")
        for values in (loop.initial, loop.body.yields, loop.results):
            self._want(_types(values) == _types(loop.arguments), loop, "it carries other types")
        self._assign(loop.results, visible)

    def _plain(self, instruction: Const | Parameter | Load | Gather | Compute, visible: set[Value]) -> None:
        result = instruction.result.type
        if isinstance(instruction, Const):
            kind = bool if result is Type.BOOL else float if result.is_float else int
            self._want(type(instruction.number) is kind, instruction, "its number is of another type")
            if result.is_integer:
                self._want(_fits(int(instruction.number), result), instruction, "its number does not fit")
        elif isinstance(instruction, Compute):
            self._seen(instruction.operands, visible, instruction.op)
            try:
                given = result_type(instruction.op, _types(instruction.operands), result)
            except TypeError as error:
                raise IRError(f"{instruction}: {error}") from None
            self._want(given is result, instruction, f"it gives {given.value}")
            self._want(
                not self._faults(instruction) or self._has_site(instruction.site), instruction, "it needs a site"
            )
        else:
            argument = self._argument(instruction, instruction.argument, result)
            self._role(instruction, argument, visible)

    def _role(self, instruction: Parameter | Load | Gather, argument: Argument, visible: set[Value]) -> None:
        if isinstance(instruction, Parameter):
            self._want(argument.role == "param", instruction, "it is no param")
        elif isinstance(instruction, Load):
            self._want(argument.role in ("sample", "mask") and argument.mode != "w", instruction, "it is not readable")
            self._want(0 <= instruction.component < prod(argument.shape), instruction, "there is no such component")
        else:
            self._want(argument.role == "table", instruction, "it is no table")
            self._seen(instruction.indices, visible, "gather")
            self._want(_types(instruction.indices) == [Type.I64] * len(argument.shape), instruction, "wrong indices")
            self._want(self._has_site(instruction.site), instruction, "it needs a site")

    def _store(self, store: Store, visible: set[Value]) -> None:
        self._seen((store.value,), visible, "store")
        argument = self._argument(store, store.argument, store.value.type)
        self._want(argument.role in ("sample", "mask") and argument.mode != "r", store, "it is not writable")
        self._want(0 <= store.component < prod(argument.shape), store, "there is no such component")
        self._want((store.argument, store.component) not in self.stored, store, "it is stored twice")
        self.stored.add((store.argument, store.component))

    def _argument(self, instruction: Instruction, name: str, type_: Type) -> Argument:
        if name not in self.arguments:
            raise IRError(f"{instruction}: there is no argument {name!r}")
        argument = self.arguments[name]
        self._want(argument.dtype == type_.value, instruction, f"{name} is {argument.dtype}")
        return argument

    def _faults(self, instruction: Compute) -> bool:
        """Whether this use of an operation can fault."""
        operand = instruction.operands[0].type
        if instruction.op == "convert":
            return operand.is_float and instruction.result.type.is_integer
        return OPERATIONS[instruction.op].faults and operand.is_integer

    def _has_site(self, site: int | None) -> bool:
        return site is not None and 0 <= site < len(self.function.sites)

    def _assign(self, values: tuple[Value, ...], visible: set[Value]) -> None:
        for value in values:
            if value.number in self.assigned:
                raise IRError(f"value {value.number} is assigned twice")
            self.assigned.add(value.number)
            visible.add(value)

    def _seen(self, values: tuple[Value, ...], visible: set[Value], where: str) -> None:
        for value in values:
            if value not in visible:
                raise IRError(f"{where}: value {value.number} is not assigned there")

    def _want(self, holds: bool, instruction: Instruction, why: str) -> None:
        if not holds:
            raise IRError(f"{instruction}: {why}")


def _types(values: tuple[Value, ...]) -> list[Type]:
    return [value.type for value in values]


def _fits(number: int, type_: Type) -> bool:
    low, high = (-(2 ** (type_.bits - 1)), 2 ** (type_.bits - 1)) if type_.is_signed else (0, 2**type_.bits)
    return bool(low <= number < high)
