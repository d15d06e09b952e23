"""What a function reads, writes and costs, found by walking it."""

from __future__ import annotations

from collections.abc import Iterator

from eagle_ir import OPERATIONS, Block, Compute, Function, Gather, If, Load, Store, Type, While
from eagle_ir.walking import can_fault, instructions

__all__ = ["cost", "loads", "stores", "types", "widest"]

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
