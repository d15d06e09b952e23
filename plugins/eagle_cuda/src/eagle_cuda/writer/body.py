"""The body of a kernel as statements of CUDA C++."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_cuda.writer.expressions import expression
from eagle_cuda.writer.signature import Signature
from eagle_cuda.writer.types import c_type, literal
from eagle_ir import Block, Compute, Const, Function, Gather, If, Load, Parameter, Store, Type, Value, While
from eagle_ir.walking import can_fault, faulting

__all__ = ["Body"]

_INDENT = "    "


class Body:
    """Writes one step of one sample: what it loads are values by name, what it stores is assigned to names.

    A fault ends the step by ``return FAULTED`` after its place was noted in ``where``; a loop that is to stop by
    ``return STOPPED``. Every other end is ``return WHOLE``, behind the stores.

    Parameters
    ----------
    function : Function
    signature : Signature
    """

    def __init__(self, function: Function, signature: Signature) -> None:
        self._function, self._signature = function, signature
        self._places = {id(one): place for place, one in enumerate(faulting(function.body))}
        self._numbers: dict[int, int] = {}
        self._constants: dict[int, str] = {}
        self._lines: list[str] = []
        self._depth = 1

    def lines(self) -> list[str]:
        """Return the statements, indented by one level."""
        self._block(self._function.body)
        self._say("return WHOLE;")
        return self._lines

    # statements -------------------------------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self._lines.append(_INDENT * self._depth + text)

    def _block(self, block: Block) -> None:
        for instruction in block.instructions:
            if isinstance(instruction, Const):
                self._constants[instruction.result.number] = literal(instruction.number, instruction.result.type)
            elif isinstance(instruction, If):
                self._if(instruction)
            elif isinstance(instruction, While):
                self._while(instruction)
            elif isinstance(instruction, Store):
                name = self._signature.stored(instruction.argument, instruction.component)
                self._say(f"{name} = {self._value(instruction.value)};")
            else:
                self._plain(instruction)

    def _plain(self, instruction: Parameter | Load | Gather | Compute) -> None:
        if isinstance(instruction, Gather):
            text = self._gather(instruction)
        elif isinstance(instruction, Compute):
            text = self._compute(instruction)
        elif isinstance(instruction, Parameter):
            text = self._signature.param(instruction.argument)
        else:
            text = self._signature.loaded(instruction.argument, instruction.component)
        self._define(instruction.result, text)

    def _define(self, value: Value, text: str) -> None:
        self._say(f"const {c_type(value.type)} {self._name(value)} = {text};")

    def _compute(self, instruction: Compute) -> str:
        operands = [self._value(one) for one in instruction.operands]
        types = [one.type for one in instruction.operands]
        if can_fault(instruction):
            if instruction.op == "convert":
                bad = f"!fits<{c_type(instruction.result.type)}>({operands[0]})"
            else:
                bad = f"{operands[1]} == 0"
            self._fault_if(bad, self._places[id(instruction)], "0")
        return expression(instruction.op, instruction.result.type, types, operands)

    def _gather(self, gather: Gather) -> str:
        """Test every index before memory is touched; the first outside its axis is the one that is reported."""
        place = self._places[id(gather)]
        indices = [self._value(index) for index in gather.indices]
        for axis, index in enumerate(indices):
            self._fault_if(f"outside({index}, {self._signature.length(gather.argument, axis)})", place, index)
        offset = indices[0] if indices else "0"
        for axis, index in enumerate(indices[1:], 1):
            offset = f"({offset}) * {self._signature.length(gather.argument, axis)} + {index}"
        text = f"{self._signature.table(gather.argument)}[{offset}]"
        return f"{text} != 0" if gather.result.type is Type.BOOL else text

    def _fault_if(self, bad: str, place: int, index: str) -> None:
        self._say(f"if ({bad}) {{ where = {{{place}, {index}}}; return FAULTED; }}")

    def _if(self, chosen: If) -> None:
        self._declare(chosen.results)
        self._say(f"if ({self._value(chosen.condition)}) {{")
        self._branch(chosen.then, chosen.results)
        if chosen.orelse.instructions or chosen.results:
            self._say("} else {")
            self._branch(chosen.orelse, chosen.results)
        self._say("}")

    def _branch(self, block: Block, results: Sequence[Value]) -> None:
        self._depth += 1
        self._block(block)
        for result, value in zip(results, block.yields, strict=True):
            self._say(f"{self._name(result)} = {self._value(value)};")
        self._depth -= 1

    def _while(self, loop: While) -> None:
        """Write an endless loop that its condition leaves. If it never does, the look at ``stop`` keeps it defined."""
        for argument, first in zip(loop.arguments, loop.initial, strict=True):
            self._say(f"{c_type(argument.type)} {self._name(argument)} = {self._value(first)};")
        self._say("for (u32 turns = 1;; ++turns) {")
        self._depth += 1
        self._block(loop.condition)
        self._say(f"if (!{self._value(loop.condition.yields[0])}) break;")
        self._say("if (turns % 4096 == 0 && *stop != 0) return STOPPED;")
        self._block(loop.body)
        self._carry(loop.arguments, loop.body.yields)
        self._depth -= 1
        self._say("}")
        for result, argument in zip(loop.results, loop.arguments, strict=True):
            self._define(result, self._name(argument))

    def _carry(self, arguments: Sequence[Value], values: Sequence[Value]) -> None:
        """Assign all at once: a value may be another argument."""
        names = {self._name(one) for one in arguments}
        texts = [self._value(one) for one in values]
        for position, (argument, text) in enumerate(zip(arguments, texts, strict=True)):
            if text in names and text != self._name(argument):
                copy = f"c{self._name(argument)[1:]}"
                self._say(f"const {c_type(argument.type)} {copy} = {text};")
                texts[position] = copy
        for argument, text in zip(arguments, texts, strict=True):
            if text != self._name(argument):
                self._say(f"{self._name(argument)} = {text};")

    def _declare(self, values: Sequence[Value]) -> None:
        for value in values:
            self._say(f"{c_type(value.type)} {self._name(value)};")

    # names ------------------------------------------------------------------------------------------------------------

    def _value(self, value: Value) -> str:
        return self._constants.get(value.number) or self._name(value)

    def _name(self, value: Value) -> str:
        return f"v{self._numbers.setdefault(value.number, len(self._numbers))}"
