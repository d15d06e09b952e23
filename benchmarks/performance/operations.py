"""What a kernel has to do at least, counted in its IR: operations by the unit that does them, and bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import prod

import numpy as np

from eagle.plugin import Kernel
from eagle_ir import Block, Compute, Const, Function, Gather, If, Instruction, Load, Parameter, Store, Value

__all__ = ["Work", "work"]

UNIFORM, FIXED, CHANGING = 0, 1, 2
"""A value is the same for all samples, the same in all steps of a sample, or neither."""


@dataclass(frozen=True)
class Work:
    """Of one sample in one step: operations; and over all its steps: bytes.

    Attributes
    ----------
    operations : Counter
        By unit: "add" (everything without a unit of its own), "div", "sin", "exp", "gather".
    moved : int
        Bytes read and written, when each plane is read once and written once.
    touched : int
        Bytes of the planes.
    """

    operations: Counter[str]
    moved: int
    touched: int


def work(kernel: Kernel, *, stepping: bool) -> Work:
    """Count what no program can leave out.

    What is the same for all samples costs nothing; when `stepping`, neither does what is the same in all steps. Equal
    operations on equal values are one. Of a branch the cheaper side counts.
    """
    assert isinstance(kernel.code, Function)
    operations = _Counting(kernel.code, CHANGING if stepping else FIXED).block(kernel.code.body)
    samples = [one for one in kernel.arguments if one.role in ("sample", "mask")]
    sizes = [np.dtype(one.dtype).itemsize * prod(one.shape) for one in samples]
    moved = sum(size * len(one.mode) for size, one in zip(sizes, samples, strict=True))
    return Work(operations, moved, sum(sizes))


@dataclass
class _Counting:
    function: Function
    least: int  # the variety from which on an operation counts
    variety: dict[object, int] = field(default_factory=dict)
    names: dict[Value, object] = field(default_factory=dict)  # equal values have equal names
    seen: set[object] = field(default_factory=set)

    def block(self, block: Block) -> Counter[str]:
        total: Counter[str] = Counter()
        for instruction in block.instructions:
            total += self.one(instruction)
        return total

    def one(self, instruction: Instruction) -> Counter[str]:
        match instruction:
            case Const(result, number):
                self.name(result, ("const", result.type, number), UNIFORM)
            case Parameter(result, argument):
                self.name(result, ("param", argument), UNIFORM)
            case Load(result, argument, component):
                written = "w" in self.function.argument(argument).mode
                self.name(result, ("load", argument, component), CHANGING if written else FIXED)
            case Compute(result, op, operands):
                return self.operation(result, op, operands)
            case Gather(result, argument, indices):
                return self.operation(result, f"gather {argument}", indices)
            case If():
                return self.branch(instruction)
            case Store():
                pass
            case _:
                raise NotImplementedError(f"how often {type(instruction).__name__} runs is not known beforehand")
        return Counter()

    def name(self, value: Value, name: object, variety: int) -> None:
        self.names[value] = name
        self.variety[name] = variety

    def operation(self, result: Value, op: str, operands: tuple[Value, ...]) -> Counter[str]:
        names = tuple(self.names[one] for one in operands)
        variety = max(self.variety[one] for one in names)
        name = (op, result.type, names)
        self.name(result, name, variety)
        if variety < self.least or name in self.seen:
            return Counter()
        self.seen.add(name)
        unit = op.split()[0]
        return Counter({unit if unit in ("div", "sin", "exp", "gather") else "add": 1})

    def branch(self, branch: If) -> Counter[str]:
        before = self.seen
        sides = []
        for side in (branch.then, branch.orelse):
            self.seen = set(before)
            sides.append(self.block(side))
        self.seen = before
        for result in branch.results:
            self.name(result, result, CHANGING)
        return min(sides, key=Counter.total)
