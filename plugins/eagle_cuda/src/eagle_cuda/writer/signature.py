"""What a kernel takes in CUDA C++, and what its values are called there."""

from __future__ import annotations

from dataclasses import dataclass

from eagle.plugin import Argument
from eagle_cuda.writer.types import c_type, memory_type
from eagle_ir import Function, Load, Store, Type

__all__ = ["Component", "Signature"]


@dataclass(frozen=True, slots=True)
class Component:
    """One row of a plane, of which a sample has one number in a register.

    Attributes
    ----------
    name : str
        Of the register, ``a2_0``.
    place : str
        Where the sample's number is in memory.
    type : Type
    loaded, stored : bool
        Whether the kernel reads it, and writes it.
    """

    name: str
    place: str
    type: Type
    loaded: bool
    stored: bool


class Signature:
    """The parameters of a kernel, named by position, so that equal kernels have equal texts.

    Parameters
    ----------
    function : Function

    Attributes
    ----------
    components : tuple of Component
        What a sample has in registers, masks among them.
    mask : Argument or None
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self._position = {one.name: position for position, one in enumerate(function.arguments)}
        self.mask = next((one for one in function.arguments if one.role == "mask"), None)
        self.components = tuple(self._components())

    # names ------------------------------------------------------------------------------------------------------------

    def param(self, argument: str) -> str:
        """Return the name of a number passed by value."""
        return f"a{self._position[argument]}"

    table = param  # and of what a table begins with

    def length(self, table: str, axis: int) -> str:
        """Return the length of an axis of a table."""
        return f"a{self._position[table]}_n{axis}"

    def loaded(self, argument: str, component: int) -> str:
        """Return the name of what a sample had in a row before the step."""
        return f"a{self._position[argument]}_{component}"

    def stored(self, argument: str, component: int) -> str:
        """Return the name of what it is to have after it."""
        return f"{self.loaded(argument, component)}_next"

    def place(self, argument: Argument, component: int) -> str:
        """Return where a sample's number of a row is."""
        plane = f"a{self._position[argument.name]}"
        if not argument.shape or not component:
            return f"{plane}[sample]"
        return f"{plane}[sample + {component} * {plane}_row]"

    def _components(self) -> list[Component]:
        found: dict[tuple[str, int], list[bool]] = {}
        for one in self.function.body.instructions:
            if isinstance(one, (Load, Store)):
                found.setdefault((one.argument, one.component), [False, False])[isinstance(one, Store)] = True
        if self.mask is not None:
            found.setdefault((self.mask.name, 0), [False, False])
        components = []
        for (name, component), (loaded, stored) in sorted(found.items(), key=lambda one: self._order(*one[0])):
            argument = self.function.argument(name)
            place, type_ = self.place(argument, component), Type(argument.dtype)
            components.append(Component(self.loaded(name, component), place, type_, loaded, stored))
        return components

    def _order(self, argument: str, component: int) -> tuple[int, int]:
        return self._position[argument], component

    @property
    def mask_component(self) -> Component | None:
        """The register of the mask."""
        return next((one for one in self.components if self.mask and one.name == self.loaded(self.mask.name, 0)), None)

    # parameters -------------------------------------------------------------------------------------------------------

    def declared(self) -> list[str]:
        """Return the parameters of the kernel that stand for its arguments."""
        parameters: list[str] = []
        for position, argument in enumerate(self.function.arguments):
            name, type_ = f"a{position}", Type(argument.dtype)
            if argument.role == "param":
                parameters.append(f"{c_type(type_)} {name}")
                continue
            const = "const " if argument.mode == "r" else ""
            parameters.append(f"{const}{memory_type(type_)}* {name}")
            if argument.role == "table":
                parameters += [f"i64 {name}_n{axis}" for axis in range(len(argument.shape))]
            elif argument.shape:
                parameters.append(f"i64 {name}_row")
        return parameters
