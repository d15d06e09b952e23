"""Every operation of the IR as an expression of CUDA C++.

The language is not the IR: signed integers may not overflow, shift counts and conversions may be undefined, and
functions like ``min`` go by other rules. What differs is a function of kernels/numbers.cuh; the rest is written as an
operator.
"""

from __future__ import annotations

from collections.abc import Sequence

from eagle_cuda.writer.types import c_type
from eagle_ir import OPERATIONS, Type

__all__ = ["expression"]

_INFIX = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|", "xor": "^"}
_FLOAT_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
# By the C library's names, to which an f is added for float.
_FLOAT_CALLS = {
    "abs": "fabs",
    "round": "rint",  # half to even
    **{name: name for name in ("sqrt", "floor", "ceil", "trunc", "copysign", "fmod", "fma")},
    **{name: name for name, operation in OPERATIONS.items() if operation.transcendental},
}


def expression(op: str, result: Type, types: Sequence[Type], operands: Sequence[str]) -> str:
    """Return the text of an operation that cannot fault, or whose operands have been found not to.

    Parameters
    ----------
    op : str
    result : Type
    types : sequence of Type
        Of the operands.
    operands : sequence of str
        Names or literals.
    """
    first = types[0]
    if op == "convert":
        return _conversion(operands[0], first, result)
    if op == "select":
        return f"{operands[0]} ? {operands[1]} : {operands[2]}"
    if op == "not":
        return f"!{operands[0]}" if first is Type.BOOL else f"~{operands[0]}"
    if op in _INFIX:
        return f"{operands[0]} {_INFIX[op]} {operands[1]}"
    if first.is_float:
        if op in _FLOAT_INFIX:
            return f"{operands[0]} {_FLOAT_INFIX[op]} {operands[1]}"
        if op == "neg":
            return f"-{operands[0]}"
        if op in _FLOAT_CALLS:
            return f"::{_FLOAT_CALLS[op]}{'f' if first is Type.F32 else ''}({', '.join(operands)})"
    return f"{op}_({', '.join(operands)})"


def _conversion(operand: str, source: Type, target: Type) -> str:
    if source is target:
        return operand
    if target is Type.BOOL:
        return f"{operand} != 0"
    if source.is_integer and target.is_integer and target.bits < source.bits:
        return f"narrow<{c_type(target)}>({operand})"
    if (source is Type.U32 and target is Type.I32) or (source is Type.I32 and target is Type.U32):
        return f"narrow<{c_type(target)}>({operand})"
    return f"static_cast<{c_type(target)}>({operand})"
