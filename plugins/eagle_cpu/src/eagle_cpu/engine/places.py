"""What a function reads, writes and costs, found by walking it."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Sequence

from eagle_ir import (
    OPERATIONS,
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
    Type,
    Value,
    While,
)
from eagle_ir.walking import can_fault, instructions

__all__ = ["cost", "lasting", "loads", "stores", "types", "uses", "widest"]

_SLOW = {"div": 4, "sqrt": 4, "fmod": 20, "floordiv": 20, "mod": 20}


def cost(block: Block) -> int:
    """Return roughly how many instructions a block takes: what tells whether skipping it is worth a branch."""
    total = 0
    for one in instructions(block):
        if isinstance(one, (While, Gather)) or can_fault(one):
            total += 50
        elif isinstance(one, Compute):
            total += 50 if OPERATIONS[one.op].transcendental else _SLOW.get(one.op, 1)
    return total


def loads(function: Function) -> list[tuple[str, int, Type]]:
    """Return the components of planes that are read, but for the mask: argument, component, type."""
    found = {
        (one.argument, one.component): one.result.type
        for one in function.body.instructions
        if isinstance(one, Load) and function.argument(one.argument).role == "sample"
    }
    return [(*place, type_) for place, type_ in found.items()]


def stores(function: Function) -> list[Store]:
    """Return the stores, but for that of the mask."""
    return [
        one
        for one in function.body.instructions
        if isinstance(one, Store) and function.argument(one.argument).role == "sample"
    ]


def types(block: Block) -> Iterator[Type]:
    """Return the types of all values of a block."""
    for one in instructions(block):
        if isinstance(one, (If, While)):
            yield from (value.type for value in one.results)
        elif not isinstance(one, Store):
            yield one.result.type


def widest(function: Function) -> int:
    """Return how many bits the widest number has that the function computes with; at least 32."""
    return max([32, *(type_.bits for type_ in types(function.body))])


def lasting(function: Function) -> dict[int, tuple[Value, bool]]:
    """Return what is computed of components that stay the same while a sample runs.

    Returns
    -------
    dict of int to (Value, bool)
        By the number of each such value, the first one that is computed alike, and whether something that changes from
        step to step uses it.
    """
    steady = {(name, component) for name, component, _ in loads(function)}
    steady -= {(one.argument, one.component) for one in stores(function)}
    alike: dict[int, Value] = {}  # of everything that stays the same
    first: dict[Hashable, Value] = {}
    shared: set[int] = set()  # the same for all samples
    computed: set[int] = set()
    used: set[int] = set()
    for one in function.body.instructions:
        if not _lasts(one, alike, steady):
            used |= {value.number for value in uses(one)}
            continue
        assert isinstance(one, (Const, Parameter, Load, Compute))
        numbers = [alike[value.number].number for value in uses(one)]
        alike[one.result.number] = first.setdefault(_recipe(one, numbers), one.result)
        if isinstance(one, (Const, Parameter)) or (isinstance(one, Compute) and shared.issuperset(numbers)):
            shared.add(alike[one.result.number].number)
        elif isinstance(one, Compute):
            computed.add(one.result.number)
    return {number: (alike[number], number in used) for number in computed}


def _lasts(one: Instruction, alike: Container[int], steady: Container[tuple[str, int]]) -> bool:
    if isinstance(one, Load):
        return (one.argument, one.component) in steady
    if isinstance(one, Compute):
        return not can_fault(one) and all(value.number in alike for value in one.operands)
    return isinstance(one, (Const, Parameter))


def _recipe(one: Const | Parameter | Load | Compute, numbers: Sequence[int]) -> Hashable:
    match one:
        case Const():
            return "const", one.result.type, repr(one.number)
        case Parameter():
            return "param", one.argument
        case Load():
            return "load", one.argument, one.component
    return one.op, one.result.type, *numbers


def uses(instruction: Instruction) -> Iterator[Value]:
    """Return what an instruction takes, and what those inside it take."""
    match instruction:
        case Compute():
            yield from instruction.operands
        case Gather():
            yield from instruction.indices
        case Store():
            yield instruction.value
        case If():
            yield instruction.condition
            yield from _uses_inside(instruction.then, instruction.orelse)
        case While():
            yield from instruction.initial
            yield from _uses_inside(instruction.condition, instruction.body)


def _uses_inside(*blocks: Block) -> Iterator[Value]:
    for block in blocks:
        yield from block.yields
        for one in block.instructions:
            yield from uses(one)
