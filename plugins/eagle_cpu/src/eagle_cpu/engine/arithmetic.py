"""Operations on floats, as text that serves numbers and vectors: IEEE 754 in source order, nothing contracted."""

from __future__ import annotations

from collections.abc import Callable

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Form, llvm_scalar
from eagle_cpu.engine.host import host
from eagle_ir.types import Type

__all__ = ["FLOAT_OPERATIONS"]


class Floats:
    """Writes float operations of one type.

    Parameters
    ----------
    code : Code
    form : Form
        Whether numbers or vectors are computed.
    type_ : Type
    mask : str, optional
        The lanes that count, where it pays to know them.
    """

    def __init__(self, code: Code, form: Form, type_: Type, mask: str | None = None) -> None:
        self.code, self.form, self.mask = code, form, mask
        self.digits = 53 if type_ is Type.F64 else 24
        self.scalar = llvm_scalar(type_)
        self.type = form.type(type_)
        self.integer_scalar = f"i{type_.bits}"
        self.integer = form.of(self.integer_scalar)
        self.truth = form.of("i1")

    def const(self, number: float) -> str:
        """Return a constant."""
        return self.form.const(self.scalar, number)

    def binary(self, instruction: str, a: str, b: str) -> str:
        """Return the result of an LLVM instruction on two operands."""
        return self.code.let(f"{instruction} {self.type} {a}, {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        """Return a comparison; the ones called ``o..`` are false for NaN."""
        return self.code.let(f"fcmp {how} {self.type} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """Return `a` where the condition holds, else `b`."""
        return self.code.let(f"select {self.truth} {condition}, {self.type} {a}, {self.type} {b}")

    def intrinsic(self, name: str, *operands: str) -> str:
        """Return the result of one of LLVM's functions that round correctly."""
        full = f"llvm.{name}.{self.form.mangle(self.scalar)}"
        return self.code.call(self.type, full, [(self.type, operand) for operand in operands])

    def bitwise(self, instruction: str, a: str, b: str) -> str:
        """Return the float whose bits an instruction makes of the bits of two."""
        bits = [self.code.let(f"bitcast {self.type} {one} to {self.integer}") for one in (a, b)]
        result = self.code.let(f"{instruction} {self.integer} {bits[0]}, {bits[1]}")
        return self.code.let(f"bitcast {self.integer} {result} to {self.type}")

    def extreme(self, how: str, zeros: str, a: str, b: str) -> str:
        """Return the smaller or larger: by comparison, then zeros by their signs, then NaN if either is."""
        nearest = self.choose(self.compare(how, a, b), a, b)
        # Equal numbers have equal bits, but for zeros, where the signs decide.
        nearest = self.choose(self.compare("oeq", a, b), self.bitwise(zeros, a, b), nearest)
        return self.choose(self.compare("uno", a, b), self.binary("fadd", a, b), nearest)

    def fmod(self, a: str, b: str) -> str:
        """Return the remainder with the sign of `a`, which is exact, so that any way to compute it gives one result."""
        if self.mask is None or not host().fused:
            return self.binary("frem", a, b)
        code, result = self.code, self.code.variable(self.type)
        quotient = self.binary("fdiv", a, b)
        small = self.compare("olt", self.intrinsic("fabs", quotient), self.const(2.0**self.digits))
        finite = self.compare("olt", self.intrinsic("fabs", b), self.const(float("inf")))
        code.store(self.type, self.near(a, b, quotient), result)
        library, on = code.label(), code.label()
        code.branch(code.any(code.without(self.mask, code.both(small, finite))), library, on, unlikely=True)
        code.open(library)
        code.store(self.type, self.binary("frem", a, b), result)
        code.jump(on)
        code.open(on)
        return code.load(self.type, result)

    def near(self, a: str, b: str, quotient: str) -> str:
        """Return the remainder for a quotient whose integer part is exact or, rounded up, one too large.

        ``|a| - n |b|`` is a float for both, so that one rounding of it is none.
        """
        size, whole = self.intrinsic("fabs", b), self.intrinsic("fabs", self.intrinsic("trunc", quotient))
        minus = self.code.let(f"fneg {self.type} {whole}")
        rest = self.intrinsic("fma", minus, size, self.intrinsic("fabs", a))
        rest = self.choose(self.compare("olt", rest, self.const(0.0)), self.binary("fadd", rest, size), rest)
        return self.intrinsic("copysign", rest, a)

    def division(self, a: str, b: str) -> tuple[str, str]:
        """Return the floored quotient and the remainder with the sign of `b`, by NumPy's algorithm."""
        zero, one = self.const(0.0), self.const(1.0)
        fmod = self.fmod(a, b)
        quotient = self.binary("fdiv", self.binary("fsub", a, fmod), b)
        wrong = self.code.let(f"xor {self.truth} {self.compare('olt', b, zero)}, {self.compare('olt', fmod, zero)}")
        some = self.compare("une", fmod, zero)
        wrong = self.code.let(f"and {self.truth} {wrong}, {some}")
        mod = self.choose(wrong, self.binary("fadd", fmod, b), fmod)
        mod = self.choose(some, mod, self.intrinsic("copysign", zero, b))
        quotient = self.choose(wrong, self.binary("fsub", quotient, one), quotient)
        floored = self.intrinsic("floor", quotient)
        above = self.compare("ogt", self.binary("fsub", quotient, floored), self.const(0.5))
        floored = self.choose(above, self.binary("fadd", floored, one), floored)
        plain = self.binary("fdiv", a, b)
        empty = self.compare("oeq", quotient, zero)
        floored = self.choose(empty, self.intrinsic("copysign", zero, plain), floored)
        by_zero = self.compare("oeq", b, zero)
        return self.choose(by_zero, plain, floored), self.choose(by_zero, fmod, mod)


def _binary(instruction: str) -> Callable[..., str]:
    return lambda floats, a, b: floats.binary(instruction, a, b)


def _compare(how: str) -> Callable[..., str]:
    return lambda floats, a, b: floats.compare(how, a, b)


def _intrinsic(name: str) -> Callable[..., str]:
    return lambda floats, *operands: floats.intrinsic(name, *operands)


FLOAT_OPERATIONS: dict[str, Callable[..., str]] = {
    "add": _binary("fadd"),
    "sub": _binary("fsub"),
    "mul": _binary("fmul"),
    "div": _binary("fdiv"),
    "neg": lambda floats, a: floats.code.let(f"fneg {floats.type} {a}"),
    "abs": _intrinsic("fabs"),
    "fma": _intrinsic("fma"),
    "sqrt": _intrinsic("sqrt"),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "trunc": _intrinsic("trunc"),
    "round": _intrinsic("roundeven"),
    "copysign": _intrinsic("copysign"),
    "floordiv": lambda floats, a, b: floats.division(a, b)[0],
    "mod": lambda floats, a, b: floats.division(a, b)[1],
    "fmod": lambda floats, a, b: floats.fmod(a, b),
    "min": lambda floats, a, b: floats.extreme("olt", "or", a, b),
    "max": lambda floats, a, b: floats.extreme("ogt", "and", a, b),
    "eq": _compare("oeq"),
    "ne": _compare("une"),
    "lt": _compare("olt"),
    "le": _compare("ole"),
    "gt": _compare("ogt"),
    "ge": _compare("oge"),
    "isnan": lambda floats, a: floats.compare("uno", a, a),
    "isinf": lambda floats, a: floats.compare("oeq", floats.intrinsic("fabs", a), floats.const(float("inf"))),
}
"""How each operation on floats is written, by name: called with `Floats` and the operands."""
