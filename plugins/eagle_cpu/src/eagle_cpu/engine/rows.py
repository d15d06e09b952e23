"""The planes of a chain at one position: whole vectors in place, a last one that is not full as a copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eagle_cpu.engine.chain import Place
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import memory_scalar
from eagle_cpu.engine.frame import from_memory, to_memory
from eagle_cpu.engine.memory import SIZES, load, masked_load, masked_store, row_at, store
from eagle_ir import Type

__all__ = ["Rows"]


class Rows:
    """Reads and writes a vector of each component.

    Where fewer samples are left than a vector holds, the code runs over copies, made as long as a vector, and what it
    wrote is copied back for those samples only. So it is written once, with plain loads and stores.

    Parameters
    ----------
    code : Code
    types : mapping of place to Type
    addresses : mapping of place to str
        Where sample 0 of each component is.
    """

    def __init__(self, code: Code, types: Mapping[Place, Type], addresses: Mapping[Place, str]) -> None:
        self.code, self.types, self.addresses = code, types, addresses
        self._base = {place: code.variable("ptr") for place in types}
        self._copies = {place: code.variable(code.vector.of(memory_scalar(type_))) for place, type_ in types.items()}

    def in_place(self) -> None:
        """Work on the planes themselves."""
        for place, variable in self._base.items():
            self.code.store("ptr", self.addresses[place], variable)

    def borrow(self, index: str, inside: str) -> None:
        """Work on copies: of the samples at `index` on in the lanes `inside`, and zeros."""
        code = self.code
        for place, variable in self._base.items():
            scalar, copy = self._scalar(place), self._copies[place]
            value = masked_load(code, scalar, row_at(code, scalar, self.addresses[place], index), inside)
            code.store(code.vector.of(scalar), value, copy)
            distance = code.let(f"mul i64 {index}, {-SIZES[scalar]}")
            code.store("ptr", code.let(f"getelementptr i8, ptr {copy}, i64 {distance}"), variable)

    def give_back(self, written: Iterable[Place], index: str, inside: str) -> None:
        """Copy what was written of the lanes `inside` to where it belongs."""
        code = self.code
        for place in written:
            scalar = self._scalar(place)
            value = code.load(code.vector.of(scalar), self._copies[place])
            masked_store(code, scalar, value, row_at(code, scalar, self.addresses[place], index), inside)

    def load(self, place: Place, index: str) -> str:
        """Return the lanes of a component; bools as a mask."""
        scalar = self._scalar(place)
        return from_memory(self.code, self.types[place], load(self.code, scalar, self._address(place, index)))

    def store(self, place: Place, index: str, value: str, lanes: str | None) -> None:
        """Write a component: every lane of it, or only `lanes`, leaving the others' bytes alone."""
        code, scalar = self.code, self._scalar(place)
        address, value = self._address(place, index), to_memory(code, self.types[place], value)
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

    def _scalar(self, place: Place) -> str:
        return memory_scalar(self.types[place])

    def _address(self, place: Place, index: str) -> str:
        return row_at(self.code, self._scalar(place), self.code.load("ptr", self._base[place]), index)
