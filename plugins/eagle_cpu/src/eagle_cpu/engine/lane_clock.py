"""Which lanes of a loop are running, and how many steps each took since the last check.

A step must not pay for either more than it has to: vector arithmetic has two ports, which the kernel fills.
"""

from __future__ import annotations

from typing import Protocol

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import llvm_scalar
from eagle_cpu.engine.host import host
from eagle_cpu.engine.pieces import cut, join
from eagle_cpu.engine.places import widest
from eagle_ir import OPERATIONS, Compute, Function, Type
from eagle_ir.walking import instructions

__all__ = ["LaneClock", "lane_clock"]


class LaneClock(Protocol):
    """A lane is running while its sample makes every step."""

    def start(self, active: str) -> None:
        """Start anew after a check: the lanes in `active` are running."""

    def running(self, step: str) -> str:
        """Return the lanes that are running, at the start of step number `step` since the check."""

    def select(self, mask: str, type_: Type, yes: str, no: str) -> str:
        """Return `yes` in the lanes of a mask and `no` in the others."""

    def tell(self, mask: str, done: str, step: str) -> None:
        """Say how a step went: lanes outside `mask`, or `done`, are running no more."""

    def read(self, active: str, steps: str) -> tuple[str, str]:
        """Return the running lanes after `steps` steps, and <W x i64>: how many each ran through without an end.

        Of lanes outside `active` the number means nothing.
        """


def lane_clock(code: Code, function: Function, steps: int) -> LaneClock:
    """Return the clock that suits a function on this processor.

    Parameters
    ----------
    code : Code
    function : Function
    steps : int
        The most between two checks.
    """
    bits = widest(function)
    # Calls want a mask in every lane's shape, and keep no register.
    calls = any(isinstance(one, Compute) and OPERATIONS[one.op].transcendental for one in instructions(function.body))
    if host().expands and not calls:
        return _Marks(code, min(host().vector_bits // bits, code.lanes), steps)
    return _Counters(code, f"i{bits}")


class _Marks:
    """Mask registers: each step leaves its running lanes in memory, a bit each, and the check counts them there.

    Masks stay in pieces of a register's lanes: moving bits between mask registers takes a port of the arithmetic.
    """

    def __init__(self, code: Code, lanes: int, steps: int) -> None:
        self.code, self.lanes = code, lanes
        self.row = f"i{max(code.lanes, 8)}"
        self.rows = code.variable(f"[{steps} x {self.row}]")
        self.variables = [code.variable(f"<{lanes} x i1>") for _ in range(0, code.lanes, lanes)]
        self.known: dict[str, list[str]] = {}

    def start(self, active: str) -> None:
        self._keep(self._cut(active))

    def running(self, step: str) -> str:
        pieces = [self.code.load(f"<{self.lanes} x i1>", variable) for variable in self.variables]
        whole = join(self.code, "i1", pieces, self.lanes)
        self.known = {whole: pieces}
        return whole

    def select(self, mask: str, type_: Type, yes: str, no: str) -> str:
        scalar = llvm_scalar(type_)
        kind = f"<{self.lanes} x {scalar}>"
        parts = zip(
            self._cut(mask),
            cut(self.code, scalar, yes, self.lanes),
            cut(self.code, scalar, no, self.lanes),
            strict=True,
        )
        chosen = [self.code.let(f"select <{self.lanes} x i1> {m}, {kind} {a}, {kind} {b}") for m, a, b in parts]
        return join(self.code, scalar, chosen, self.lanes)

    def tell(self, mask: str, done: str, step: str) -> None:
        code, kind = self.code, f"<{self.lanes} x i1>"
        pairs = zip(self._cut(mask), self._cut(done), strict=True)
        pieces = [
            code.let(f"and {kind} {running}, {code.let(f'xor {kind} {over}, splat (i1 true)')}")
            for running, over in pairs
        ]
        self._keep(pieces)
        place = code.let(f"getelementptr {self.row}, ptr {self.rows}, i64 {step}")
        for position, piece in enumerate(pieces):
            byte = code.let(f"getelementptr i8, ptr {place}, i64 {position * self.lanes // 8}")
            bits, size = code.let(f"bitcast {kind} {piece} to i{self.lanes}"), max(self.lanes, 8)
            bits = code.let(f"zext i{self.lanes} {bits} to i{size}") if self.lanes < size else bits
            code.emit(f"store i{size} {bits}, ptr {byte}, align {size // 8}")

    def read(self, active: str, steps: str) -> tuple[str, str]:
        code, many = self.code, self.code.vector.of("i64")
        running = self.running(steps)
        ran = code.variable(many)
        code.store(many, code.splat("i64", steps), ran)
        count, on = code.label(), code.label()
        code.branch(code.any(code.without(active, running)), count, on)
        code.open(count)
        code.store(many, self._counted(steps), ran)
        code.jump(on)
        code.open(on)
        return running, code.load(many, ran)

    def _counted(self, steps: str) -> str:
        """Count the rows that have each lane: in bytes, as there are few."""
        code, bytes_ = self.code, self.code.vector.of("i8")
        row, total = code.variable("i64"), code.variable(bytes_)
        code.store("i64", "0", row)
        code.store(bytes_, "zeroinitializer", total)
        head, inside, after = code.label(), code.label(), code.label()
        code.jump(head)
        code.open(head)
        number = code.load("i64", row)
        code.branch(code.let(f"icmp slt i64 {number}, {steps}"), inside, after)
        code.open(inside)
        bits = code.let(f"load {self.row}, ptr {code.let(f'getelementptr {self.row}, ptr {self.rows}, i64 {number}')}")
        bits = code.let(f"trunc {self.row} {bits} to {code.bits_type}") if self.row != code.bits_type else bits
        mask = code.let(f"bitcast {code.bits_type} {bits} to {code.mask_type}")
        one = code.let(f"zext {code.mask_type} {mask} to {bytes_}")
        code.store(bytes_, code.let(f"add {bytes_} {code.load(bytes_, total)}, {one}"), total)
        code.store("i64", code.let(f"add i64 {number}, 1"), row)
        code.jump(head)
        code.open(after)
        return code.let(f"zext {bytes_} {code.load(bytes_, total)} to {code.vector.of('i64')}")

    def _cut(self, mask: str) -> list[str]:
        if mask not in self.known:
            self.known[mask] = cut(self.code, "i1", mask, self.lanes)
        return self.known[mask]

    def _keep(self, pieces: list[str]) -> None:
        for variable, piece in zip(self.variables, pieces, strict=True):
            self.code.store(f"<{self.lanes} x i1>", piece, variable)


class _Counters:
    """No mask registers: a lane counts its steps, and is running while it has as many as were made.

    Counting in the width of what is computed makes masks of the shape that arithmetic takes.
    """

    def __init__(self, code: Code, counter: str) -> None:
        self.code, self.counter = code, counter
        self.type = code.vector.of(counter)
        self.variable = code.variable(self.type)

    def start(self, active: str) -> None:
        idle = f"splat ({self.counter} -1)"
        self.code.store(self.type, self.code.select(active, self.type, "zeroinitializer", idle), self.variable)

    def running(self, step: str) -> str:
        made = self.code.splat(self.counter, self._narrow(step))
        return self.code.let(f"icmp eq {self.type} {self.code.load(self.type, self.variable)}, {made}")

    def select(self, mask: str, type_: Type, yes: str, no: str) -> str:
        return self.code.select(mask, self.code.vector.type(type_), yes, no)

    def tell(self, mask: str, done: str, step: str) -> None:
        code = self.code
        made = code.splat(self.counter, code.let(f"add {self.counter} {self._narrow(step)}, 1"))
        before = code.load(self.type, self.variable)
        code.store(self.type, code.select(code.without(mask, done), self.type, made, before), self.variable)

    def read(self, active: str, steps: str) -> tuple[str, str]:
        running, ran = self.running(steps), self.code.load(self.type, self.variable)
        return running, ran if self.counter == "i64" else self.code.let(
            f"sext {self.type} {ran} to {self.code.vector.of('i64')}"
        )

    def _narrow(self, number: str) -> str:
        return number if self.counter == "i64" else self.code.let(f"trunc i64 {number} to {self.counter}")
