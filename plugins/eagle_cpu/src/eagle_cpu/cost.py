"""A guess at what a kernel costs, good enough to decide whether waking threads pays."""

from __future__ import annotations

from eagle_ir import OPERATIONS, Block, Compute, Function, If, While

__all__ = ["cost_of"]

_ARITHMETIC_NS = 0.15  # one operation on one sample, in vector code
_TRANSCENDENTAL_NS = 1.5
_ITERATIONS = 8  # of a loop nobody knows the length of


def cost_of(function: object) -> float:
    """Return nanoseconds per sample. It decides how many threads are worth waking, and nothing else."""
    return max(0.2, _block(function.body)) if isinstance(function, Function) else 1.0


def _block(block: Block) -> float:
    total = 0.0
    for instruction in block.instructions:
        if isinstance(instruction, If):
            total += _block(instruction.then) + _block(instruction.orelse)
        elif isinstance(instruction, While):
            total += _ITERATIONS * (_block(instruction.condition) + _block(instruction.body))
        elif isinstance(instruction, Compute) and OPERATIONS[instruction.op].transcendental:
            total += _TRANSCENDENTAL_NS
        else:
            total += _ARITHMETIC_NS
    return total
