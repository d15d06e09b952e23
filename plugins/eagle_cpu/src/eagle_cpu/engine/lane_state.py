"""What the lanes of a loop hold: a sample each, its components, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import memory_scalar
from eagle_cpu.engine.places import loads, stores
from eagle_ir import Function, Type

__all__ = ["Held", "LaneState"]


@dataclass(frozen=True, slots=True)
class Held:
    """A component that lanes hold.

    Attributes
    ----------
    name : str
    component : int
    type : Type
    variable : str
    loaded, stored : bool
        Whether it is read when a sample enters its lane, and written when the sample leaves it.
    """

    name: str
    component: int
    type: Type
    variable: str
    loaded: bool
    stored: bool

    @property
    def place(self) -> tuple[str, int]:
        """The argument and the component."""
        return self.name, self.component

    @property
    def scalar(self) -> str:
        """LLVM's name of an element in memory."""
        return memory_scalar(self.type)


class LaneState:
    """The variables of a loop.

    Attributes
    ----------
    held : list of Held
        Components of planes.
    sample, taken : str
        <W x i64>: the sample in each lane, and the steps it took so far.
    active : str
        The lanes that hold a sample.
    retired : str
        The lanes whose sample faulted.
    following : str
        i64: the next sample to enter a lane.
    longest : str
        <W x i64>: the most steps a sample of this lane took.
    done : str
        The mask that the body computed, where it has to be kept.
    """

    def __init__(self, code: Code, function: Function) -> None:
        self.code = code
        read = {(name, component): type_ for name, component, type_ in loads(function)}
        written = {(one.argument, one.component): one.value.type for one in stores(function)}
        self.held = [
            Held(*place, type_, code.variable(code.vector.type(type_)), place in read, place in written)
            for place, type_ in {**read, **written}.items()
        ]
        many = code.vector.of("i64")
        self.sample, self.taken, self.longest = (code.variable(many) for _ in range(3))
        self.active, self.retired, self.done = (code.variable(code.mask_type) for _ in range(3))
        self.following = code.variable("i64")
        for variable in (self.sample, self.taken, self.longest):
            code.store(many, "zeroinitializer", variable)
        for variable in (self.active, self.retired, self.done):
            code.store(code.mask_type, "zeroinitializer", variable)
        for one in self.held:
            code.store(code.vector.type(one.type), "zeroinitializer", one.variable)
        code.store("i64", "%begin", self.following)

    def get(self, one: Held) -> str:
        """Return the lanes of a component."""
        return self.code.load(self.code.vector.type(one.type), one.variable)

    def put(self, one: Held, value: str) -> None:
        """Set the lanes of a component."""
        self.code.store(self.code.vector.type(one.type), value, one.variable)

    def mask(self, variable: str) -> str:
        """Return a variable that is a mask."""
        return self.code.load(self.code.mask_type, variable)

    def numbers(self, variable: str) -> str:
        """Return a variable that is <W x i64>."""
        return self.code.load(self.code.vector.of("i64"), variable)
