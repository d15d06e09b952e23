"""Operations on integers and bools: two's complement and wrapping, never an instruction with undefined results."""

from __future__ import annotations

from collections.abc import Callable

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Form, llvm_scalar
from eagle_ir.types import Type

__all__ = ["INTEGER_OPERATIONS"]


class Integers:
    """Writes integer operations of one type.

    Parameters
    ----------
    code : Code
    form : Form
        Whether numbers or vectors are computed.
    type_ : Type
    """

    def __init__(self, code: Code, form: Form, type_: Type) -> None:
        self.code, self.form, self.kind = code, form, type_
        self.type = form.type(type_)
        self.scalar = llvm_scalar(type_)
        self.truth = form.of("i1")
        self.signed = type_.is_signed

    def const(self, number: int) -> str:
        """Return a constant."""
        return self.form.const(self.scalar, number)

    def binary(self, instruction: str, a: str, b: str) -> str:
        """Return the result of an LLVM instruction on two operands."""
        return self.code.let(f"{instruction} {self.type} {a}, {b}")

    def compare(self, how: str, a: str, b: str) -> str:
        """Return a comparison by LLVM's name, to which the signedness is added where it matters."""
        how = how if how in ("eq", "ne") else ("s" if self.signed else "u") + how
        return self.code.let(f"icmp {how} {self.type} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        """Return `a` where the condition holds, else `b`."""
        return self.code.let(f"select {self.truth} {condition}, {self.type} {a}, {self.type} {b}")

    def truths(self, instruction: str, a: str, b: str) -> str:
        """Combine two conditions."""
        return self.code.let(f"{instruction} {self.truth} {a}, {b}")

    def absolute(self, a: str) -> str:
        """Return the absolute value; the smallest integer is its own."""
        if not self.signed:
            return a
        return self.choose(self.compare("lt", a, self.const(0)), self.binary("sub", self.const(0), a), a)

    def complement(self, a: str) -> str:
        """Return the bitwise complement, the negation of a bool."""
        return self.binary("xor", a, self.form.const(self.scalar, 1 if self.kind is Type.BOOL else -1))

    def shift(self, instruction: str, a: str, b: str) -> str:
        """Shift by a count that is compared first: LLVM leaves the result of an oversized one undefined."""
        bits = self.kind.bits
        inside = self.code.let(f"icmp ult {self.type} {b}, {self.const(bits)}")
        fill = instruction == "ashr"
        shifted = self.binary(instruction, a, self.choose(inside, b, self.const(bits - 1 if fill else 0)))
        return shifted if fill else self.choose(inside, shifted, self.const(0))

    def safe_divisor(self, a: str, b: str, bad: str) -> str:
        """Return `b`, or 1 where dividing by it would trap: idle lanes, 0, and the smallest integer by -1."""
        b = self.choose(bad, self.const(1), b)
        if not self.signed:
            return b
        smallest = self.compare("eq", a, self.const(-(2 ** (self.kind.bits - 1))))
        trap = self.truths("and", smallest, self.compare("eq", b, self.const(-1)))
        # Dividing the smallest integer by 1 gives what wrapping gives for -1, and remainder 0 as well.
        return self.choose(trap, self.const(1), b)

    def quotient(self, a: str, b: str) -> str:
        """Return the truncated quotient of a division that cannot trap.

        No processor divides vectors of integers. Those of 32 bits go through double: the quotient of two such numbers
        is never so close to the next integer that rounding to 53 bits would reach it.
        """
        sign = "s" if self.signed else "u"
        if self.kind.bits == 64:
            return self.binary(f"{sign}div", a, b)
        double = self.form.of("double")
        numbers = [self.code.let(f"{sign}itofp {self.type} {one} to {double}") for one in (a, b)]
        quotient = self.code.let(f"fdiv {double} {numbers[0]}, {numbers[1]}")
        return self.code.let(f"fpto{sign}i {double} {quotient} to {self.type}")

    def floored(self, op: str, a: str, b: str) -> str:
        """Return the floored quotient or remainder of a division that cannot trap."""
        quotient = self.quotient(a, b)
        if not self.signed and op == "floordiv":
            return quotient
        rest = self.binary("sub", a, self.binary("mul", quotient, b))
        if not self.signed:
            return rest
        some = self.compare("ne", rest, self.const(0))
        differ = self.compare("lt", self.binary("xor", rest, b), self.const(0))
        wrong = self.truths("and", some, differ)
        if op == "floordiv":
            return self.choose(wrong, self.binary("sub", quotient, self.const(1)), quotient)
        return self.choose(wrong, self.binary("add", rest, b), rest)


def _binary(instruction: str) -> Callable[..., str]:
    return lambda integers, a, b: integers.binary(instruction, a, b)


def _compare(how: str) -> Callable[..., str]:
    return lambda integers, a, b: integers.compare(how, a, b)


INTEGER_OPERATIONS: dict[str, Callable[..., str]] = {
    "add": _binary("add"),
    "sub": _binary("sub"),
    "mul": _binary("mul"),
    "neg": lambda integers, a: integers.binary("sub", integers.const(0), a),
    "abs": lambda integers, a: integers.absolute(a),
    "min": lambda integers, a, b: integers.choose(integers.compare("lt", a, b), a, b),
    "max": lambda integers, a, b: integers.choose(integers.compare("gt", a, b), a, b),
    "and": _binary("and"),
    "or": _binary("or"),
    "xor": _binary("xor"),
    "not": lambda integers, a: integers.complement(a),
    "shl": lambda integers, a, b: integers.shift("shl", a, b),
    "shr": lambda integers, a, b: integers.shift("ashr" if integers.signed else "lshr", a, b),
    "eq": _compare("eq"),
    "ne": _compare("ne"),
    "lt": _compare("lt"),
    "le": _compare("le"),
    "gt": _compare("gt"),
    "ge": _compare("ge"),
}
"""How each operation on integers and bools is written, by name; division, which can fault, is not among them."""
