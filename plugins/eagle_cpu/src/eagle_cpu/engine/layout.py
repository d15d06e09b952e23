"""The block of memory that a launch passes to generated code: 64-bit words at fixed places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from eagle.plugin import Argument

__all__ = ["Layout"]

LOCK = 0  # taken while a fault is recorded
FAULT_SAMPLE = 1  # of the lowest sample that faulted; NO_SAMPLE when none did
FAULT_PLACE = 2  # which of the function's instructions that can fault
FAULT_INDEX = 3  # the index that was outside a table
LONGEST = 4  # most steps a sample took in a loop
MAX_STEPS = 5
STEPS = 6  # address of int64 (n,) or 0
FAILED = 7  # address of bool (n,) or 0
WATCHFUL = 8  # address of the loop that looks for numbers that are not finite, or 0
FIRST_ARGUMENT = 16

NO_SAMPLE = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each argument's words are.

    Attributes
    ----------
    offsets : dict of str to int
        The first word of an argument. A plane has its address and the bytes from one component to the next, a table
        its address and the length of each axis, a param its bits.
    size : int
        In words.
    """

    offsets: dict[str, int]
    size: int

    @classmethod
    def of(cls, arguments: Sequence[Argument]) -> Layout:
        """Return the layout for a signature."""
        offsets, word = {}, FIRST_ARGUMENT
        for argument in arguments:
            offsets[argument.name] = word
            word += words(argument)
        return cls(offsets, word)


def words(argument: Argument) -> int:
    """Return how many words an argument takes."""
    return {"param": 1, "table": 1 + len(argument.shape)}.get(argument.role, 2)


def components(argument: Argument) -> int:
    """Return how many rows the plane of an argument has."""
    return prod(argument.shape)
