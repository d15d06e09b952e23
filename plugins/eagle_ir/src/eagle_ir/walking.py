"""Every instruction of a block, and which of them can fault."""

from __future__ import annotations

from collections.abc import Iterator

from eagle_ir.operations import OPERATIONS
from eagle_ir.program import Block, Compute, Gather, If, Instruction, While

__all__ = ["can_fault", "faulting", "instructions"]


def instructions(block: Block) -> Iterator[Instruction]:
    """Walk all instructions of a block and of those inside it, in the order of the text."""
    for instruction in block.instructions:
        yield instruction
        if isinstance(instruction, If):
            yield from instructions(instruction.then)
            yield from instructions(instruction.orelse)
        elif isinstance(instruction, While):
            yield from instructions(instruction.condition)
            yield from instructions(instruction.body)


def can_fault(instruction: Instruction) -> bool:
    """Whether an instruction by itself can retire its sample."""
    if isinstance(instruction, Gather):
        return True
    if not isinstance(instruction, Compute) or not OPERATIONS[instruction.op].faults:
        return False
    operand = instruction.operands[0].type
    return (
        operand.is_float and instruction.result.type.is_integer if instruction.op == "convert" else operand.is_integer
    )


def faulting(block: Block) -> list[Gather | Compute]:
    """Return the instructions that can fault, in order; a recorded fault names one by its position here."""
    return [one for one in instructions(block) if can_fault(one) and isinstance(one, (Gather, Compute))]
