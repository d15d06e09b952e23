"""The text of one generated function, written line by line."""

from __future__ import annotations

from collections.abc import Iterable

from eagle_cpu.engine.forms import Form

__all__ = ["Code"]

UNLIKELY = ", !prof !0"
"""Attached to a branch that is hardly ever taken; the module defines what it refers to."""


class Code:
    """Lines of LLVM IR, with fresh names, labels, and the external functions that were called.

    Parameters
    ----------
    lanes : int
        Of the vectors; masks have one bit per lane.

    Attributes
    ----------
    vector : Form
        Values with one number per lane.
    declared : dict of str to str
        The declaration of each function called, by name.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.vector = Form(lanes)
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.declared: dict[str, str] = {}
        self.mask_type = self.vector.of("i1")
        self.bits_type = f"i{lanes}"
        self._count = 0

    # lines and names
    def emit(self, text: str) -> None:
        """Add a line."""
        self.lines.append(text)

    def let(self, text: str) -> str:
        """Name the result of an instruction."""
        self._count += 1
        name = f"%r{self._count}"
        self.lines.append(f"{name} = {text}")
        return name

    def variable(self, type_: str) -> str:
        """Return a variable of the function, made on entry; LLVM turns it into registers."""
        self._count += 1
        name = f"%v{self._count}"
        self.entry.append(f"{name} = alloca {type_}, align 64")
        return name

    def load(self, type_: str, variable: str) -> str:
        """Read a variable."""
        return self.let(f"load {type_}, ptr {variable}, align 64")

    def store(self, type_: str, value: str, variable: str) -> None:
        """Write a variable."""
        self.emit(f"store {type_} {value}, ptr {variable}, align 64")

    # control
    def label(self) -> str:
        """Return a fresh label."""
        self._count += 1
        return f"b{self._count}"

    def open(self, label: str) -> None:
        """Start the block called `label`."""
        self.emit(f"{label}:")

    def jump(self, label: str) -> None:
        """Go on at `label`."""
        self.emit(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, *, unlikely: bool = False) -> None:
        """Go on at `yes` or at `no`; `unlikely` says that `yes` hardly ever happens."""
        self.emit(f"br i1 {condition}, label %{yes}, label %{no}{UNLIKELY if unlikely else ''}")

    # calls
    def call(self, result: str, function: str, arguments: Iterable[tuple[str, str]], *, convention: str = "") -> str:
        """Call a function with (type, value) pairs and return the name of what it gives; "" when that is nothing."""
        pairs = list(arguments)
        types = ", ".join(type_ for type_, _ in pairs)
        convention = f"{convention} " if convention else ""
        self.declared.setdefault(function, f"declare {convention}{result} @{function}({types})")
        text = f"call {convention}{result} @{function}({', '.join(f'{type_} {value}' for type_, value in pairs)})"
        if result != "void":
            return self.let(text)
        self.emit(text)
        return ""

    # lanes and masks
    def splat(self, scalar: str, value: str) -> str:
        """Return `value` in every lane."""
        if not value.startswith("%"):
            return f"splat ({scalar} {value})"
        vector = self.vector.of(scalar)
        one = self.let(f"insertelement {vector} poison, {scalar} {value}, i32 0")
        return self.let(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def lane(self, vector: str, value: str, lane: int) -> str:
        """Return the number in one lane."""
        return self.let(f"extractelement {vector} {value}, i32 {lane}")

    def iota(self, scalar: str) -> str:
        """Return the number of each lane."""
        return "<" + ", ".join(f"{scalar} {lane}" for lane in range(self.lanes)) + ">"

    def both(self, first: str, second: str) -> str:
        """Return the lanes in both masks."""
        return self.let(f"and {self.mask_type} {first}, {second}")

    def either(self, first: str, second: str) -> str:
        """Return the lanes in one of two masks."""
        return self.let(f"or {self.mask_type} {first}, {second}")

    def complement(self, mask: str) -> str:
        """Return the lanes that are not in a mask."""
        return self.let(f"xor {self.mask_type} {mask}, splat (i1 true)")

    def without(self, mask: str, less: str) -> str:
        """Return the lanes of `mask` that are not in `less`."""
        return self.both(mask, self.complement(less))

    def select(self, mask: str, type_: str, yes: str, no: str) -> str:
        """Return `yes` in the lanes of a mask and `no` in the others."""
        return self.let(f"select {self.mask_type} {mask}, {type_} {yes}, {type_} {no}")

    def bits(self, mask: str) -> str:
        """Return a mask as one integer."""
        return self.let(f"bitcast {self.mask_type} {mask} to {self.bits_type}")

    def any(self, mask: str) -> str:
        """Return whether a mask has a lane."""
        return self.let(f"icmp ne {self.bits_type} {self.bits(mask)}, 0")

    def every(self, mask: str) -> str:
        """Return whether a mask has all lanes."""
        return self.let(f"icmp eq {self.bits_type} {self.bits(mask)}, -1")

    def word(self, mask: str) -> str:
        """Return a mask as i64, a bit per lane."""
        bits = self.bits(mask)
        return self.let(f"zext {self.bits_type} {bits} to i64") if self.lanes < 64 else bits

    # the whole function
    def function(self, head: str) -> str:
        """Return the text of the function, whose first block jumps to the first line's block."""
        return "\n".join([f"{head} {{", "entry:", *self.entry, *self.lines, "}", ""])
