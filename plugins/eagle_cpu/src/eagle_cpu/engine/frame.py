"""What an entry reads from the block of arguments before its first sample."""

from __future__ import annotations

from dataclasses import dataclass

from eagle.plugin import Argument
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Form, Operand, memory_scalar
from eagle_cpu.engine.layout import Layout, components
from eagle_ir import Function, Type

__all__ = ["Frame", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table's address, the length of each axis, and the element's type."""

    address: str
    extents: tuple[str, ...]
    scalar: str


class Frame:
    """Emits the loads of addresses and params, and remembers their names.

    Parameters
    ----------
    code : Code
    function : Function

    Attributes
    ----------
    rows : dict of (str, int) to str
        The address of sample 0 of each component of a plane.
    params : dict of str to Operand
    tables : dict of str to Table
    mask : str or None
        The name of the mask argument.
    ticks : str
        The variable that counts iterations between two looks at the stop flag.
    """

    def __init__(self, code: Code, function: Function) -> None:
        self.code, self.function = code, function
        self.layout = Layout.of(function.arguments)
        self.rows: dict[tuple[str, int], str] = {}
        self.params: dict[str, Operand] = {}
        self.tables: dict[str, Table] = {}
        self.mask = next((one.name for one in function.arguments if one.role == "mask"), None)
        self.ticks = code.variable("i32")
        code.store("i32", "0", self.ticks)
        for argument in function.arguments:
            self._argument(argument)

    def word(self, offset: int, type_: str = "i64") -> str:
        """Read a word of the block."""
        place = self.code.let(f"getelementptr i64, ptr %args, i64 {offset}")
        return self.code.let(f"load {type_}, ptr {place}, align 8")

    def _argument(self, argument: Argument) -> None:
        offset = self.layout.offsets[argument.name]
        type_ = Type(argument.dtype)
        if argument.role == "param":
            text = self.word(offset, memory_scalar(type_))
            text = self.code.let(f"icmp ne i8 {text}, 0") if type_ is Type.BOOL else text
            self.params[argument.name] = Operand(text, type_, uniform=True)
        elif argument.role == "table":
            extents = tuple(self.word(offset + 1 + axis) for axis in range(len(argument.shape)))
            self.tables[argument.name] = Table(self.word(offset, "ptr"), extents, memory_scalar(type_))
        else:
            self._plane(argument, offset)

    def _plane(self, argument: Argument, offset: int) -> None:
        address = self.word(offset, "ptr")
        self.rows[argument.name, 0] = address
        if components(argument) < 2:
            return
        stride = self.word(offset + 1)
        for component in range(1, components(argument)):
            distance = self.code.let(f"mul i64 {stride}, {component}")
            self.rows[argument.name, component] = self.code.let(f"getelementptr i8, ptr {address}, i64 {distance}")


def from_memory(code: Code, type_: Type, value: str) -> str:
    """Return lanes as loaded, with bytes turned into bools: any byte but 0 is true."""
    return code.let(f"icmp ne {code.vector.of('i8')} {value}, zeroinitializer") if type_ is Type.BOOL else value


def to_memory(code: Code, type_: Type, value: str) -> str:
    """Return lanes as they are stored, with bools turned into bytes 0 and 1."""
    if type_ is not Type.BOOL:
        return value
    return code.let(f"zext {Form(code.lanes).of('i1')} {value} to {code.vector.of('i8')}")
