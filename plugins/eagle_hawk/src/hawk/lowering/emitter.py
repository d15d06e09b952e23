"""A builder whose blocks can be left and opened again, so that both ends of a branch can be made to agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from eagle_ir import OPERATIONS, Block, Builder, Compute, Const, If, Instruction, Type, Value, While
from eagle_ir.program import Number

__all__ = ["Emitter", "is_cheap"]


class Emitter(Builder):
    """Makes instructions in the innermost open list."""

    def const(self, number: Number, type: Type) -> Value:  # noqa: A002 - as in the builder
        """A number of the given type; a float too large for it is infinite."""
        with np.errstate(over="ignore"):
            return super().const(number, type)

    @contextmanager
    def inside(self, instructions: list[Instruction]) -> Iterator[list[Instruction]]:
        """Emit into `instructions` until the end of the with block."""
        self._blocks.append(instructions)
        try:
            yield instructions
        finally:
            self._blocks.pop()

    def splice(self, instructions: Sequence[Instruction]) -> None:
        """Put instructions made aside into the open list."""
        self._blocks[-1].extend(instructions)

    def fresh(self, types: Sequence[Type]) -> tuple[Value, ...]:
        """Values that no instruction has assigned yet: the arguments of a loop."""
        return tuple(self._value(type_) for type_ in types)

    def add_if(self, condition: Value, then: Block, orelse: Block) -> tuple[Value, ...]:
        """Append a choice between two finished blocks that yield the same types."""
        results = self.fresh([value.type for value in then.yields])
        self._blocks[-1].append(If(results, condition, then, orelse))
        return results

    def add_while(
        self, initial: Sequence[Value], arguments: tuple[Value, ...], condition: Block, body: Block
    ) -> tuple[Value, ...]:
        """Append a loop made of finished blocks."""
        results = self.fresh([value.type for value in arguments])
        self._blocks[-1].append(While(results, tuple(initial), arguments, condition, body))
        return results


def is_cheap(instructions: Sequence[Instruction]) -> bool:
    """Whether the instructions cannot fault and cost so little that computing them for nothing does no harm."""
    return len(instructions) <= 16 and all(
        isinstance(one, Const)
        or (isinstance(one, Compute) and one.site is None and not OPERATIONS[one.op].transcendental)
        for one in instructions
    )
