"""A guess at what a kernel costs, good enough to decide whether waking threads pays."""

from __future__ import annotations

import functools

from eagle.plugin import Kernel
from eagle_ir import OPERATIONS, Block, Compute, Function, If, Instruction, While

__all__ = ["cost_in_registers", "cost_of"]

_INSTRUCTION_NS = 0.15  # one instruction on one sample, in vector code whose planes come from memory
_IN_REGISTERS_NS = 0.03  # one operation where they come from the kernel before
_SLOW_NS = 0.25
_TRANSCENDENTAL_NS = 1.5
_ITERATIONS = 8  # of a loop nobody knows the length of
_SLOW = ("div", "sqrt", "mod", "floordiv", "fmod")


def cost_of(function: object) -> float:
    """Return nanoseconds per sample. It decides how many threads are worth waking, and nothing else."""
    return max(0.2, _block(function.body, _INSTRUCTION_NS, 0.0)) if isinstance(function, Function) else 1.0


@functools.lru_cache(maxsize=1024)
def cost_in_registers(kernel: Kernel) -> float:
    """Return nanoseconds per sample for a kernel of the IR in the middle of a fused one."""
    assert isinstance(kernel.code, Function)
    return _block(kernel.code.body, 0.0, _IN_REGISTERS_NS)


def _block(block: Block, each: float, operation: float) -> float:
    """Add up what any instruction takes, and what an operation takes in addition."""
    return sum(_instruction(one, each, operation) for one in block.instructions)


def _instruction(one: Instruction, each: float, operation: float) -> float:
    if isinstance(one, If):
        return _block(one.then, each, operation) + _block(one.orelse, each, operation)
    if isinstance(one, While):
        return _ITERATIONS * (_block(one.condition, each, operation) + _block(one.body, each, operation))
    if not isinstance(one, Compute):
        return each
    if OPERATIONS[one.op].transcendental:
        return _TRANSCENDENTAL_NS
    return max(each, _SLOW_NS if one.op in _SLOW and operation else operation)
