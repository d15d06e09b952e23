"""The planes of a chain at one position: whole vectors in place, a last one that is not full as a copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import memory_scalar
from eagle_cpu.engine.frame import from_memory, to_memory
from eagle_cpu.engine.memory import SIZES, load, masked_load, masked_store, row_at, store
from eagle_ir import Type

__all__ = ["Rows"]


class Rows:
    """Reads and writes a vector of each row.

    Where fewer samples are left than a vector holds, the code runs over copies, made as long as a vector, and what it
    wrote is copied back for those samples only. So it is written once, with plain loads and stores.

    Parameters
    ----------
    code : Code
    types : mapping of str to Type
        Of each row, by its name.
    addresses : mapping of str to str
        Where sample 0 of each row is.
    """

    def __init__(self, code: Code, types: Mapping[str, Type], addresses: Mapping[str, str]) -> None:
        self.code, self.types, self.addresses = code, types, addresses
        self._base = {row: code.variable("ptr") for row in types}
        self._copies = {row: code.variable(code.vector.of(memory_scalar(type_))) for row, type_ in types.items()}

    def in_place(self) -> None:
        """Work on the planes themselves."""
        for row, variable in self._base.items():
            self.code.store("ptr", self.addresses[row], variable)

    def borrow(self, index: str, inside: str) -> None:
        """Work on copies: of the samples at `index` on in the lanes `inside`, and zeros."""
        code = self.code
        for row, variable in self._base.items():
            scalar, copy = self._scalar(row), self._copies[row]
            value = masked_load(code, scalar, row_at(code, scalar, self.addresses[row], index), inside)
            code.store(code.vector.of(scalar), value, copy)
            distance = code.let(f"mul i64 {index}, {-SIZES[scalar]}")
            code.store("ptr", code.let(f"getelementptr i8, ptr {copy}, i64 {distance}"), variable)

    def give_back(self, written: Iterable[str], index: str, inside: str) -> None:
        """Copy what was written of the lanes `inside` to where it belongs."""
        code = self.code
        for row in written:
            scalar = self._scalar(row)
            value = code.load(code.vector.of(scalar), self._copies[row])
            masked_store(code, scalar, value, row_at(code, scalar, self.addresses[row], index), inside)

    def load(self, row: str, index: str) -> str:
        """Return the lanes of a row; bools as a mask."""
        scalar = self._scalar(row)
        return from_memory(self.code, self.types[row], load(self.code, scalar, self._address(row, index)))

    def store(self, row: str, index: str, value: str, lanes: str | None) -> None:
        """Write a row: every lane of it, or only `lanes`, leaving the others' bytes alone."""
        code, scalar = self.code, self._scalar(row)
        address, value = self._address(row, index), to_memory(code, self.types[row], value)
        if lanes is None:
            store(code, scalar, value, address)
            return
        plain, masked, on = code.label(), code.label(), code.label()
        code.branch(code.every(lanes), plain, masked)
        code.open(plain)
        store(code, scalar, value, address)
        code.jump(on)
        code.open(masked)
        masked_store(code, scalar, value, address, lanes)
        code.jump(on)
        code.open(on)

    def _scalar(self, row: str) -> str:
        return memory_scalar(self.types[row])

    def _address(self, row: str, index: str) -> str:
        return row_at(self.code, self._scalar(row), self.code.load("ptr", self._base[row]), index)
