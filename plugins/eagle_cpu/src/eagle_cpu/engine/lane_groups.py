"""How a loop's samples lie in memory while they run: in groups of lanes, everything a step needs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Operand, memory_scalar
from eagle_cpu.engine.frame import from_memory
from eagle_cpu.engine.memory import SIZES
from eagle_cpu.engine.places import lasting, loads, stores, widest
from eagle_ir import Function, Type, Value

__all__ = ["Field", "Held", "Kept", "LaneGroups"]

_LINE = 64


@dataclass(frozen=True, slots=True)
class Field:
    """A vector of a group: where it begins, and its elements as they are in memory."""

    offset: int
    scalar: str

    def lane(self, code: Code, group: str, lane: str) -> str:
        """Return the address of one lane."""
        row = code.let(f"getelementptr i8, ptr {group}, i64 {self.offset}")
        return code.let(f"getelementptr {self.scalar}, ptr {row}, i64 {lane}")

    def load(self, code: Code, group: str) -> str:
        """Return all lanes."""
        address = code.let(f"getelementptr i8, ptr {group}, i64 {self.offset}")
        return code.let(f"load {code.vector.of(self.scalar)}, ptr {address}, align {self._align(code)}")

    def store(self, code: Code, group: str, value: str, *, volatile: bool = False) -> None:
        """Set all lanes; `volatile`: LLVM is to make no masked store of it, for which the next load would wait."""
        address = code.let(f"getelementptr i8, ptr {group}, i64 {self.offset}")
        how = "store volatile" if volatile else "store"
        code.emit(f"{how} {code.vector.of(self.scalar)} {value}, ptr {address}, align {self._align(code)}")

    def _align(self, code: Code) -> int:
        return min(SIZES[self.scalar] * code.lanes, _LINE)


@dataclass(frozen=True, slots=True)
class Held:
    """A component that lanes hold.

    Attributes
    ----------
    name : str
    component : int
    type : Type
    field : Field
    loaded, stored : bool
        Whether it is read when a sample enters its lane, and written when the sample leaves it.
    """

    name: str
    component: int
    type: Type
    field: Field
    loaded: bool
    stored: bool

    @property
    def place(self) -> tuple[str, int]:
        """The argument and the component."""
        return self.name, self.component

    def lanes(self, code: Code, group: str) -> str:
        """Return the lanes as values."""
        return from_memory(code, self.type, self.field.load(code, group))


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that stays the same while lanes keep their samples; several numbers may stand for it."""

    numbers: tuple[int, ...]
    type: Type
    field: Field

    def operand(self, code: Code, group: str) -> Operand:
        """Return its lanes."""
        return Operand(from_memory(code, self.type, self.field.load(code, group)), self.type, uniform=False)


class LaneGroups:
    """The layout of a group.

    Parameters
    ----------
    function : Function
    lanes : int
        Of a group.

    Attributes
    ----------
    held : list of Held
        Components of planes.
    kept : list of Kept
        What is computed once for a sample and used in every step.
    fixed : frozenset of int
        The numbers of all values that are not computed in a step.
    sample, began : Field
        The sample in each lane, and how many steps the loop had made when it entered.
    active : int
        Offset of the lanes that hold a sample, a bit each in an i64.
    mask : Field
        The same as vectors have it, -1 in those lanes: without mask registers, bits take long to become lanes.
    size : int
        Of a group, in bytes.
    """

    def __init__(self, function: Function, lanes: int) -> None:
        self._lanes, self._end = lanes, 0
        read = {(name, component): type_ for name, component, type_ in loads(function)}
        written = {(one.argument, one.component): one.value.type for one in stores(function)}
        self.held = [
            Held(*place, type_, self._field(memory_scalar(type_)), place in read, place in written)
            for place, type_ in {**read, **written}.items()
        ]
        found = lasting(function)
        self.fixed = frozenset(found)
        self.kept = [Kept(numbers, type_, self._field(memory_scalar(type_))) for numbers, type_ in _used(found.items())]
        self.sample, self.began = self._field("i64"), self._field("i64")
        self.mask = self._field(f"i{widest(function)}")
        self.active = self._end
        self.size = -(-(self.active + 8) // _LINE) * _LINE

    def _field(self, scalar: str) -> Field:
        size = SIZES[scalar] * self._lanes
        align = min(size, _LINE)
        offset = -(-self._end // align) * align
        self._end = offset + size
        return Field(offset, scalar)


def _used(found: Iterable[tuple[int, tuple[Value, bool]]]) -> Iterator[tuple[tuple[int, ...], Type]]:
    """Return the numbers of each value that is used, those computed alike together."""
    alike: dict[int, list[tuple[int, Value, bool]]] = {}
    for number, (value, used) in found:
        alike.setdefault(value.number, []).append((number, value, used))
    for same in alike.values():
        if any(used for _, _, used in same):
            yield tuple(sorted(number for number, _, _ in same)), same[0][1].type
