"""Reductions inside a chain: vector after vector into 64 lanes, which are handed over block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

from eagle_cpu._native import REDUCTION_BLOCK
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import llvm_scalar, scalar_text
from eagle_cpu.engine.memory import SIZES, row_at
from eagle_ir import Type

__all__ = ["LANES", "Lanes", "Tally", "TallyPart"]

LANES = 64
"""Of a block: element ``i`` belongs to lane ``i mod 64``."""


@dataclass(frozen=True, slots=True)
class TallyPart:
    """A reduction as a part of a chain: its operation, the dtype of its elements, and the number of their row."""

    op: str
    dtype: str
    slot: int


@dataclass(frozen=True, slots=True)
class Tally:
    """A reduction as a link of a chain.

    Attributes
    ----------
    op : {"sum", "max", "min", "all", "any"}
    dtype : str
    row : str
    state, take : str
        The params with the addresses of the reduction and of what takes in a block (``eagle/reduce/reduction.h``).
    """

    op: str
    dtype: str
    row: str
    state: str
    take: str

    mask: None = field(default=None, init=False)

    def reads(self) -> list[str]:
        """Return the row it reduces."""
        return [self.row]

    def writes(self) -> list[str]:
        """Return nothing: its result is written where a block is taken in."""
        return []

    @property
    def bits(self) -> int:
        """Of a lane: a sum of float32 is added in float64."""
        return 64 if self.dtype in ("float64", "int64") or (self.op, self.dtype) == ("sum", "float32") else 32


class Lanes:
    """Writes the code of one reduction.

    A sum of floats that vectors do not hold all lanes of adds each vector to its part of them in memory, which stays in
    the first cache. Otherwise a vector of lanes is kept in registers: where any order gives the same bits, an element
    may go to any lane.

    Parameters
    ----------
    code : Code
    tally : Tally
    state, take : str
        The two addresses, as i64.
    """

    def __init__(self, code: Code, tally: Tally, state: str, take: str) -> None:
        self.code, self.op, self.type = code, tally.op, Type(tally.dtype)
        self.state, self.take = (code.let(f"inttoptr i64 {one} to ptr") for one in (state, take))
        self.scalar = {Type.BOOL: "i8"}.get(self.type, llvm_scalar(self.type))
        if tally.op == "sum" and self.type is Type.F32:
            self.scalar = "double"
        self.vector = code.vector.of(self.scalar)
        self.in_registers = code.lanes == LANES or not (tally.op == "sum" and self.type.is_float)
        self.memory, self.variable = code.variable(f"[{LANES} x {self.scalar}]"), code.variable(self.vector)
        self.nothing = f"splat ({self.scalar} {self._nothing()})"
        self._clear_memory()
        if self.in_registers:
            self._store(self.nothing, self.variable)

    def add(self, value: str, index: str, full: str, inside: str) -> None:
        """Take in the vector at `index`: all of it where `full`, else the lanes `inside`."""
        code, value = self.code, self._converted(value)
        place = self._place(index)
        before = self._load(place)
        plain, masked, on = code.label(), code.label(), code.label()
        code.branch(full, plain, masked)
        code.open(plain)
        self._store(self._combined(before, value), place)
        code.jump(on)
        code.open(masked)
        self._store(code.select(inside, self.vector, self._combined(before, value), before), place)
        code.jump(on)
        code.open(on)

    def hand_over(self, index: str) -> None:
        """Give away the block that the sample at `index` is in, and begin another."""
        code = self.code
        if self.in_registers:
            self._store(self._load(self.variable), self.memory)
        block = code.let(f"sdiv i64 {index}, {REDUCTION_BLOCK}")
        code.emit(f"call void {self.take}(ptr {self.state}, ptr {self.memory}, i64 {block})")
        if self.in_registers:
            self._store(self.nothing, self.variable)
        else:
            self._clear_memory()

    def _clear_memory(self) -> None:
        for first in range(0, LANES, self.code.lanes):
            self._store(self.nothing, row_at(self.code, self.scalar, self.memory, str(first)))

    def _nothing(self) -> str:
        """Return what changes no lane."""
        if self.op not in ("max", "min"):
            return scalar_text(self.scalar, -0.0)
        if self.type.is_float:
            return scalar_text(self.scalar, float("-inf" if self.op == "max" else "inf"))
        largest = 2 ** (self.type.bits - 1) - 1
        return str(-largest - 1 if self.op == "max" else largest)

    def _converted(self, value: str) -> str:
        """Return the elements as lanes have them: of bools, whether they settle it."""
        code = self.code
        if self.type is Type.BOOL:
            settles = code.complement(value) if self.op == "all" else value
            return code.let(f"zext {code.mask_type} {settles} to {self.vector}")
        if self.op == "sum" and self.type is Type.F32:
            return code.let(f"fpext {code.vector.of('float')} {value} to {self.vector}")
        return value

    def _combined(self, lanes: str, value: str) -> str:
        code = self.code
        if self.op in ("max", "min"):
            # As is documented: NaN if there is one, and +0 above -0.
            name = {"max": "maximum", "min": "minimum"}[self.op] if self.type.is_float else f"s{self.op}"
            pairs = [(self.vector, lanes), (self.vector, value)]
            return code.call(self.vector, f"llvm.{name}.{code.vector.mangle(self.scalar)}", pairs)
        instruction = "or" if self.type is Type.BOOL else "fadd" if self.type.is_float else "add"
        return code.let(f"{instruction} {self.vector} {lanes}, {value}")

    def _place(self, index: str) -> str:
        if self.in_registers:
            return self.variable
        return row_at(self.code, self.scalar, self.memory, self.code.let(f"and i64 {index}, {LANES - 1}"))

    def _load(self, place: str) -> str:
        return self.code.let(f"load {self.vector}, ptr {place}, align {SIZES[self.scalar]}")

    def _store(self, value: str, place: str) -> None:
        self.code.emit(f"store {self.vector} {value}, ptr {place}, align {SIZES[self.scalar]}")
