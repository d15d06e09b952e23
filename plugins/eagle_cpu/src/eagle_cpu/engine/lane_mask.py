"""A mask that lives from one block of code to another."""

from __future__ import annotations

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.host import host

__all__ = ["LaneMask"]


class LaneMask:
    """A variable for a mask.

    Without mask registers, LLVM hands a mask of booleans from block to block as narrow integers, which every use then
    has to widen; so it is kept in the width of the numbers it chooses among, and its sign bits are the mask.

    Parameters
    ----------
    code : Code
    bits : int
        Of those numbers.
    """

    def __init__(self, code: Code, bits: int) -> None:
        self._code = code
        self._type = code.mask_type if host().masks else code.vector.of(f"i{bits}")
        self._variable = code.variable(self._type)

    def set(self, mask: str) -> None:
        """Keep a mask."""
        code = self._code
        if self._type != code.mask_type:
            mask = code.let(f"sext {code.mask_type} {mask} to {self._type}")
        code.store(self._type, mask, self._variable)

    def get(self) -> str:
        """Return it."""
        code = self._code
        value = code.load(self._type, self._variable)
        if self._type == code.mask_type:
            return value
        return code.let(f"icmp slt {self._type} {value}, zeroinitializer")
