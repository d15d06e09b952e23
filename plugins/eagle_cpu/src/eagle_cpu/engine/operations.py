"""One operation of the program, for numbers that all samples share and for lanes."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_cpu.engine.arithmetic import FLOAT_OPERATIONS, Floats
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.conversions import convert, float_to_integer
from eagle_cpu.engine.forms import Form, Operand
from eagle_cpu.engine.integers import INTEGER_OPERATIONS, Integers
from eagle_cpu.engine.math_calls import call_lanes, call_uniform
from eagle_ir import OPERATIONS, Type

__all__ = ["lanes_operation", "uniform_operation"]

_NUMBER = Form(0)
_BY_C_LIBRARY = ("fmod", "mod", "floordiv")


def uniform_operation(code: Code, op: str, operands: Sequence[Operand], result: Type) -> str:
    """Write an operation on numbers that all samples share. It is none that can fault."""
    if OPERATIONS[op].transcendental:
        doubles = [convert(code, _NUMBER, one.text, one.type, Type.F64) for one in operands]
        return convert(code, _NUMBER, call_uniform(code, op, doubles), Type.F64, result)
    return _plain(code, _NUMBER, op, operands, result)


def lanes_operation(
    code: Code, op: str, operands: Sequence[Operand], result: Type, mask: str
) -> tuple[str, str | None]:
    """Write an operation on lanes.

    Returns
    -------
    str
        The result.
    str or None
        The lanes of `mask` that fault, for an operation that can.
    """
    first = operands[0].type
    if OPERATIONS[op].transcendental:
        doubles = [convert(code, code.vector, one.text, one.type, Type.F64) for one in operands]
        return convert(code, code.vector, call_lanes(code, op, doubles, mask), Type.F64, result), None
    if op == "convert" and first.is_float and result.is_integer:
        integer, bad = float_to_integer(code, code.vector, operands[0].text, first, result)
        return integer, code.both(mask, bad)
    if op in ("floordiv", "mod") and first.is_integer:
        return _divide(code, op, operands, mask)
    if op in _BY_C_LIBRARY:
        one = code.vector.const("double" if first is Type.F64 else "float", 1.0)
        # A huge number in an idle lane would cost as much as one that counts.
        operands = [
            Operand(code.select(mask, code.vector.type(first), operand.text, one), first, uniform=False)
            for operand in operands
        ]
    return _plain(code, code.vector, op, operands, result, mask if op in _BY_C_LIBRARY else None), None


def _divide(code: Code, op: str, operands: Sequence[Operand], mask: str) -> tuple[str, str]:
    a, b = (operand.text for operand in operands)
    integers = Integers(code, code.vector, operands[0].type)
    zero = integers.compare("eq", b, integers.const(0))
    bad = code.both(mask, zero)
    safe = integers.safe_divisor(a, b, code.either(zero, code.complement(mask)))
    quotient = integers.floored(op, a, safe)
    return integers.choose(zero, integers.const(0), quotient), bad


def _plain(code: Code, form: Form, op: str, operands: Sequence[Operand], result: Type, mask: str | None = None) -> str:
    texts = [operand.text for operand in operands]
    if op == "convert":
        return convert(code, form, texts[0], operands[0].type, result)
    if op == "select":
        kind = form.type(result)
        return code.let(f"select {form.of('i1')} {texts[0]}, {kind} {texts[1]}, {kind} {texts[2]}")
    type_ = operands[0].type
    if type_.is_float:
        return FLOAT_OPERATIONS[op](Floats(code, form, type_, mask), *texts)
    return INTEGER_OPERATIONS[op](Integers(code, form, type_), *texts)
