"""Conversions between types."""

from __future__ import annotations

from eagle_cpu.engine.arithmetic import Floats
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Form, llvm_scalar
from eagle_ir.types import Type

__all__ = ["convert", "float_to_integer"]


def convert(code: Code, form: Form, value: str, source: Type, target: Type) -> str:
    """Write a conversion that cannot fault and return its result."""
    if source is target:
        return value
    before, after = form.type(source), form.type(target)
    if target is Type.BOOL:
        if source.is_float:
            return code.let(f"fcmp une {before} {value}, {form.const(llvm_scalar(source), 0.0)}")
        return code.let(f"icmp ne {before} {value}, {form.const(llvm_scalar(source), 0)}")
    if source.is_float:
        return code.let(f"{'fpext' if target is Type.F64 else 'fptrunc'} {before} {value} to {after}")
    if target.is_float:
        return code.let(f"{'sitofp' if source.is_signed else 'uitofp'} {before} {value} to {after}")
    if source.bits == target.bits:
        return value
    if source.bits > target.bits:
        return code.let(f"trunc {before} {value} to {after}")
    return code.let(f"{'sext' if source.is_signed else 'zext'} {before} {value} to {after}")


def float_to_integer(code: Code, form: Form, value: str, source: Type, target: Type) -> tuple[str, str]:
    """Truncate, and return the integer and where it does not fit.

    LLVM leaves the conversion of NaN and of what is out of range undefined, so the range is tested first. Where the
    number does not fit the integer is the type's minimum, as NumPy gives it on x86.
    """
    floats = Floats(code, form, source)
    low, high = (-(2 ** (target.bits - 1)), 2 ** (target.bits - 1)) if target.is_signed else (0, 2**target.bits)
    whole = floats.intrinsic("trunc", value)
    above = floats.compare("oge", whole, floats.const(low))
    below = floats.compare("olt", whole, floats.const(high))
    fits = code.let(f"and {floats.truth} {above}, {below}")
    safe = floats.choose(fits, whole, floats.const(0.0))
    after = form.type(target)
    integer = code.let(f"{'fptosi' if target.is_signed else 'fptoui'} {floats.type} {safe} to {after}")
    minimum = form.const(llvm_scalar(target), low)
    integer = code.let(f"select {floats.truth} {fits}, {after} {integer}, {after} {minimum}")
    return integer, code.let(f"xor {floats.truth} {fits}, {form.const('i1', 1)}")
