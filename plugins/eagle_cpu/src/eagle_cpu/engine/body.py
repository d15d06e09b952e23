"""One execution of a function's body for a vector of samples: branches become masks, loops run while a lane does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Operand, llvm_scalar, scalar_text
from eagle_cpu.engine.frame import Frame
from eagle_cpu.engine.lane_mask import LaneMask
from eagle_cpu.engine.memory import gather
from eagle_cpu.engine.operations import lanes_operation, uniform_operation
from eagle_cpu.engine.places import cost, widest
from eagle_cpu.engine.support import support, tick
from eagle_ir import (
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
from eagle_ir.walking import can_fault, faulting, instructions

__all__ = ["Body", "Surroundings"]

_WORTH_SKIPPING = 12


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a body needs from the entry it stands in.

    Attributes
    ----------
    frame : Frame
    inputs : dict of (str, int) to str
        The lanes of every component that is loaded; bools as masks.
    samples : callable
        Emits and returns the number of each lane's sample, <W x i64>.
    retired : str
        A variable: the lanes whose sample faulted.
    stopped : str
        The label to go to, from any point of the body, when a stop is wanted.
    """

    frame: Frame
    inputs: dict[tuple[str, int], str]
    samples: Callable[[], str]
    retired: str
    stopped: str


class Body:
    """Writes the body of a function.

    Parameters
    ----------
    function : Function
    surroundings : Surroundings
    mask : str
        The lanes that have a sample.

    Attributes
    ----------
    mask : str
        The lanes that are executing; a sample that faults leaves it.
    outputs : dict of (str, int) to Operand
        What is to be stored, once `emit` is through.
    fixed : set of int
        The numbers of the values that `hoist` or somebody else computed.
    """

    def __init__(self, function: Function, surroundings: Surroundings, mask: str) -> None:
        self.function, self.around = function, surroundings
        self.code: Code = surroundings.frame.code
        self.mask = mask
        self.outputs: dict[tuple[str, int], Operand] = {}
        self.fixed: set[int] = set()
        self._splats: dict[tuple[str, str], str] = {}  # by LLVM's type too: a number is written alike in several
        self._values: dict[int, Operand] = {}
        self._wide = widest(function)
        self._places = {one.result.number: place for place, one in enumerate(faulting(function.body))}

    def hoist(self) -> None:
        """Write what depends on nothing but params and the components that are loaded by now, once for many steps."""
        alike: dict[tuple[object, ...], Operand] = {}
        for one in self.function.body.instructions:
            if self._is_fixed(one):
                if isinstance(one, Compute):
                    recipe = (one.op, one.result.type, *(self._values[operand.number] for operand in one.operands))
                    self._values[one.result.number] = alike.get(recipe) or self._compute(one)
                    alike[recipe] = self._values[one.result.number]
                else:
                    self._instruction(one)
                self.fixed.add(one.result.number)
            elif isinstance(one, Compute):
                for operand in one.operands:
                    value = self._values.get(operand.number)
                    if value is not None and value.uniform:
                        self._splats[llvm_scalar(value.type), value.text] = self.lanes(value)

    def value(self, number: int) -> str:
        """Return the lanes of a value that is written."""
        return self.lanes(self._values[number])

    def recall(self, values: Mapping[int, Operand], fixed: Iterable[int]) -> None:
        """Take what was written elsewhere: the numbers in `fixed`, of which those in `values` are used here."""
        self._values |= values
        self.fixed |= set(fixed)

    def emit(self) -> None:
        """Write it all, but for what `hoist` wrote."""
        for one in self.function.body.instructions:
            if isinstance(one, (If, While, Store)) or one.result.number not in self.fixed:
                self._instruction(one)

    def lanes(self, operand: Operand) -> str:
        """Return an operand with one number per lane."""
        if not operand.uniform:
            return operand.text
        scalar = llvm_scalar(operand.type)
        return self._splats.get((scalar, operand.text)) or self.code.splat(scalar, operand.text)

    def _is_fixed(self, one: Instruction) -> TypeGuard[Const | Parameter | Load | Compute]:
        if isinstance(one, Load):
            return (one.argument, one.component) in self.around.inputs
        if isinstance(one, Compute):
            return not can_fault(one) and all(operand.number in self.fixed for operand in one.operands)
        return isinstance(one, (Const, Parameter))

    def _block(self, block: Block) -> list[Operand]:
        for instruction in block.instructions:
            self._instruction(instruction)
        return [self._values[value.number] for value in block.yields]

    def _instruction(self, instruction: Instruction) -> None:
        match instruction:
            case If():
                self._if(instruction)
            case While():
                self._while(instruction)
            case Store():
                place = instruction.argument, instruction.component
                self.outputs[place] = self._values[instruction.value.number]
            case _:
                self._values[instruction.result.number] = self._plain(instruction)

    def _plain(self, instruction: Const | Parameter | Load | Gather | Compute) -> Operand:
        type_ = instruction.result.type
        if isinstance(instruction, Const):
            return Operand(scalar_text(llvm_scalar(type_), instruction.number), type_, uniform=True)
        if isinstance(instruction, Parameter):
            return self.around.frame.params[instruction.argument]
        if isinstance(instruction, Load):
            if instruction.argument == self.around.frame.mask:
                return Operand("false", Type.BOOL, uniform=True)  # a finished sample is not executed
            return Operand(self.around.inputs[instruction.argument, instruction.component], type_, uniform=False)
        if isinstance(instruction, Gather):
            return Operand(self._gather(instruction), type_, uniform=False)
        return self._compute(instruction)

    def _compute(self, instruction: Compute) -> Operand:
        operands = [self._values[operand.number] for operand in instruction.operands]
        type_ = instruction.result.type
        if all(operand.uniform for operand in operands) and not can_fault(instruction):
            return Operand(uniform_operation(self.code, instruction.op, operands, type_), type_, uniform=True)
        lanes = [Operand(self.lanes(operand), operand.type, uniform=False) for operand in operands]
        result, bad = lanes_operation(self.code, instruction.op, lanes, type_, self.mask)
        if bad:
            self._fault(instruction, bad, "zeroinitializer")
        return Operand(result, type_, uniform=False)

    # tables and faults
    def _gather(self, instruction: Gather) -> str:
        code, table = self.code, self.around.frame.tables[instruction.argument]
        many = code.vector.of("i64")
        offset, bad, index = "", "", ""
        for value, extent in zip(instruction.indices, table.extents, strict=True):
            lanes, size = self.lanes(self._values[value.number]), code.splat("i64", extent)
            outside = code.let(f"icmp uge {many} {lanes}, {size}")
            offset = code.let(f"add {many} {code.let(f'mul {many} {offset}, {size}')}, {lanes}") if offset else lanes
            index = code.select(bad, many, index, lanes) if bad else lanes
            bad = code.either(bad, outside) if bad else outside
        self._fault(instruction, code.both(self.mask, bad), index)
        loaded = gather(code, table.scalar, table.address, offset, self.mask)
        if instruction.result.type is Type.BOOL:
            return code.let(f"icmp ne {code.vector.of('i8')} {loaded}, zeroinitializer")
        return loaded

    def _fault(self, instruction: Gather | Compute, bad: str, index: str) -> None:
        """Record the faults of the lanes `bad`, and retire these."""
        code = self.code
        record, on = code.label(), code.label()
        many = code.vector.of("i64")
        samples, indices = code.variable(many), code.variable(many)
        alive = LaneMask(code, self._wide)
        alive.set(self.mask)
        code.branch(code.any(bad), record, on, unlikely=True)
        code.open(record)
        code.store(many, self.around.samples(), samples)
        code.store(many, index, indices)
        bits = code.word(bad)
        place = self._places[instruction.result.number]
        support(code, "eagle_record", f"ptr %args, i64 {bits}, ptr {samples}, ptr {indices}, i64 {place}")
        retired = code.load(code.mask_type, self.around.retired)
        code.store(code.mask_type, code.either(retired, bad), self.around.retired)
        alive.set(code.without(self.mask, bad))
        code.jump(on)
        code.open(on)
        self.mask = alive.get()

    def _rejoin(self, before: str, *blocks: Block) -> None:
        """Go on with the lanes `before`, without those that were retired in one of the blocks."""
        faults = any(can_fault(one) for block in blocks for one in instructions(block))
        self.mask = (
            self.code.without(before, self.code.load(self.code.mask_type, self.around.retired)) if faults else before
        )

    # regions
    def _if(self, instruction: If) -> None:
        code, before = self.code, self.mask
        condition = self.lanes(self._values[instruction.condition.number])
        then = self._side(instruction.then, code.both(before, condition), instruction.results)
        self._rejoin(before, instruction.then)
        orelse = self._side(instruction.orelse, code.without(self.mask, condition), instruction.results)
        self._rejoin(before, instruction.then, instruction.orelse)
        for result, yes, no in zip(instruction.results, then, orelse, strict=True):
            chosen = code.select(condition, code.vector.type(result.type), yes, no)
            self._values[result.number] = Operand(chosen, result.type, uniform=False)

    def _side(self, block: Block, mask: str, results: tuple[Value, ...]) -> list[str]:
        """Write one side of an If, skipped when no lane takes it unless it is cheaper than the question."""
        code, self.mask = self.code, mask
        if cost(block) <= _WORTH_SKIPPING:
            return [self.lanes(one) for one in self._block(block)]
        types = [code.vector.type(result.type) for result in results]
        variables = [code.variable(type_) for type_ in types]
        for variable, type_ in zip(variables, types, strict=True):
            code.store(type_, "zeroinitializer", variable)
        inside, on = code.label(), code.label()
        code.branch(code.any(mask), inside, on)
        code.open(inside)
        for variable, type_, one in zip(variables, types, self._block(block), strict=True):
            code.store(type_, self.lanes(one), variable)
        code.jump(on)
        code.open(on)
        return [code.load(type_, variable) for variable, type_ in zip(variables, types, strict=True)]

    def _while(self, loop: While) -> None:
        code, before = self.code, self.mask
        types = [code.vector.type(value.type) for value in loop.arguments]
        carried = [code.variable(type_) for type_ in types]
        running = code.variable(code.mask_type)
        for value, type_, variable in zip(loop.initial, types, carried, strict=True):
            code.store(type_, self.lanes(self._values[value.number]), variable)
        code.store(code.mask_type, before, running)
        head, inside, after = code.label(), code.label(), code.label()
        code.jump(head)
        code.open(head)
        self.mask = code.load(code.mask_type, running)
        held = self._carried(loop.arguments, carried)
        condition = self.lanes(self._block(loop.condition)[0])
        self.mask = active = code.both(self.mask, condition)
        code.branch(code.any(active), inside, after)
        code.open(inside)
        for one, type_, variable, old in zip(self._block(loop.body), types, carried, held, strict=True):
            # A lane whose loop has ended keeps what it carried.
            code.store(type_, code.select(active, type_, self.lanes(one), old), variable)
        code.store(code.mask_type, self.mask, running)
        tick(code, self.around.frame.ticks, cost(loop.condition) + cost(loop.body), self.around.stopped)
        code.jump(head)
        code.open(after)
        self._carried(loop.results, carried)
        self._rejoin(before, loop.condition, loop.body)

    def _carried(self, values: tuple[Value, ...], variables: list[str]) -> list[str]:
        texts = []
        for value, variable in zip(values, variables, strict=True):
            texts.append(self.code.load(self.code.vector.type(value.type), variable))
            self._values[value.number] = Operand(texts[-1], value.type, uniform=False)
        return texts
