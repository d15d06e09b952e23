"""A function as text. The text is stable: values are renumbered in order, so equal programs print equally."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from eagle.plugin import Argument
from eagle_ir.program import (
    DIALECT,
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
    Store,
    Value,
    While,
)

__all__ = ["fingerprint", "to_text"]


def to_text(function: Function, *, names: bool = True) -> str:
    """Return `function` as text, one instruction a line.

    Parameters
    ----------
    function : Function
    names : bool
        Call the function and its arguments by name; else by position, so that the text holds only what decides the
        result.
    """
    return "\n".join(_Printer(function, names).lines()) + "\n"


def fingerprint(function: Function) -> str:
    """Return a hash of all that decides the result: code, types and constants, not names and places in the source."""
    text = f"{DIALECT}\n{to_text(function, names=False)}"
    return hashlib.sha256(text.encode()).hexdigest()


class _Printer:
    def __init__(self, function: Function, names: bool) -> None:
        self.function = function
        self.arguments = {
            one.name: one.name if names else f"#{position}" for position, one in enumerate(function.arguments)
        }
        self.title = function.name if names else "kernel"
        self.numbers: dict[int, int] = {}

    def lines(self) -> Iterator[str]:
        yield f"{self.title}("
        for argument in self.function.arguments:
            yield f"    {self._signature(argument)}"
        yield "):"
        yield from self._block(self.function.body, 1)

    def _signature(self, argument: Argument) -> str:
        shape = "".join(f"[{size}]" for size in argument.shape)
        total = " total" if argument.total else ""
        return f"{self.arguments[argument.name]}: {argument.role} {argument.mode} {argument.dtype}{shape}{total}"

    def _block(self, block: Block, depth: int) -> Iterator[str]:
        pad = "    " * depth
        for instruction in block.instructions:
            for line in self._instruction(instruction, depth):
                yield pad + line
        if block.yields:
            yield f"{pad}yield {self._values(block.yields)}"

    def _instruction(self, instruction: Instruction, depth: int) -> Iterator[str]:
        if isinstance(instruction, Store):
            yield f"store {self._place(instruction.argument, instruction.component)}, {self._value(instruction.value)}"
        elif isinstance(instruction, If):
            head = f"if {self._value(instruction.condition)}:"
            then, orelse = list(self._block(instruction.then, 1)), list(self._block(instruction.orelse, 1))
            yield f"{self._results(instruction.results)}{head}"
            yield from (*then, "else:", *orelse)
        elif isinstance(instruction, While):
            initial = self._values(instruction.initial)
            head = f"while ({self._assigned(instruction.arguments)}) from ({initial}):"
            test, step = list(self._block(instruction.condition, 1)), list(self._block(instruction.body, 1))
            yield f"{self._results(instruction.results)}{head}"
            yield from (*test, "do:", *step)
        else:
            text = self._plain(instruction)
            yield f"{self._results((instruction.result,))}{text}"

    def _plain(self, instruction: Const | Parameter | Load | Gather | Compute) -> str:
        if isinstance(instruction, Const):
            return f"const {_number(instruction.number)}"
        if isinstance(instruction, Parameter):
            return f"param {self.arguments[instruction.argument]}"
        if isinstance(instruction, Load):
            return f"load {self._place(instruction.argument, instruction.component)}"
        if isinstance(instruction, Gather):
            return f"gather {self.arguments[instruction.argument]}[{self._values(instruction.indices)}]"
        return f"{instruction.op} {self._values(instruction.operands)}"

    def _place(self, argument: str, component: int) -> str:
        return f"{self.arguments[argument]}.{component}"

    def _results(self, values: tuple[Value, ...]) -> str:
        return f"{self._assigned(values)} = " if values else ""

    def _assigned(self, values: tuple[Value, ...]) -> str:
        return ", ".join(f"{self._value(value)}: {value.type.short}" for value in values)

    def _values(self, values: tuple[Value, ...]) -> str:
        return ", ".join(map(self._value, values))

    def _value(self, value: Value) -> str:
        return f"%{self.numbers.setdefault(value.number, len(self.numbers))}"


def _number(number: Number) -> str:
    """Write a float by its bits' exact value, so that the text loses nothing."""
    return number.hex() if isinstance(number, float) else str(number)
