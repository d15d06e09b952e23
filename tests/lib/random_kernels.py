"""Random kernels as source text: well typed, always ending, in every corner of the language; and planes for them."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from kernel_oracle import output_names
from kernel_words import (
    ARGUMENTS,
    COLUMNS,
    CONVERSIONS,
    EXACT,
    FLOATS,
    HEADER,
    KINDS,
    LARGE,
    LENGTH,
    ROWS,
    SMALL,
    SMOOTH,
    TYPES,
    WRITABLE,
)


@dataclass(repr=False)
class Case:
    """A kernel as text, with the arguments it takes and the outputs it writes."""

    source: str
    arguments: dict[str, str]
    outputs: tuple[str, ...]
    serial: int = field(default_factory=itertools.count().__next__)

    def __repr__(self) -> str:
        return "\n" + self.source[len(HEADER) :]

    def module(self) -> ModuleType:
        """Import the text from a file of its own."""
        path = Path(_FOLDER.name) / f"generated_{self.serial}.py"
        path.write_text(self.source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        path.unlink()
        return module


_FOLDER = tempfile.TemporaryDirectory(prefix="eagle-kernels-")


class Writer:
    """Writes one kernel: what is drawn decides, and every expression is written for the type wanted.

    Types: F the plan's float, I Int32, U UInt32, J Index, B Bool, V2 and V3 vectors.
    """

    def __init__(self, draw: st.DrawFn, smooth: bool, masked: bool) -> None:
        self.draw = draw
        self.smooth = smooth
        self.masked = masked
        names = draw(st.sets(st.sampled_from(sorted(ARGUMENTS)), min_size=3, max_size=9))
        if not names & {*WRITABLE, "x", "i"}:
            names |= {"x"}
        if masked:
            names |= {"terminated", "m"}
        self.arguments = {name: text for name, text in ARGUMENTS.items() if name in names}
        self.scope: dict[str, str] = {name: TYPES[name] for name in self.arguments if name in TYPES}
        self.fixed = {name for name in self.scope if name not in WRITABLE}
        self.serial = itertools.count()
        self.loops = 0
        self.left = draw(st.integers(4, 12))
        self.outputs = self.choose((), ("out",), ("first", "second"), ("r0", "r1", "r2"))
        self.types = tuple(self.choose("F", "F", "I", "U", "J", "B", "V2", "V3") for _ in self.outputs)
        if not self.outputs and not any(name in self.arguments for name in WRITABLE):
            self.outputs, self.types = ("out",), ("F",)

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return bool(self.draw(st.integers(1, 100)) <= percent)

    def case(self) -> Case:
        lines = self.block(1, {})
        if self.masked:
            lines += [f"    m += {self.choose('1.0', 'TENTH', '-0.5')}", f"    terminated = {self.of('B', 3)}"]
        lines += self.leave(1) if self.outputs else []
        inside = ", ".join(f"{name}: {text}" for name, text in self.arguments.items())
        decorator = self.choose("@hawk.kernel", "@hawk.kernel", "@hawk.kernel(fma=True)")
        head = [decorator, f"def kernel({inside}):"]
        return Case(HEADER + "\n".join([*head, *(lines or ["    pass"])]) + "\n", self.arguments, self.outputs)

    # statements

    def block(self, depth: int, extra: dict[str, str]) -> list[str]:
        """Some statements, indented; the variables they introduce are gone after them."""
        before = dict(self.scope)
        self.scope |= extra
        lines: list[str] = []
        for _ in range(self.draw(st.integers(3, 6) if depth == 1 else st.integers(1, 3))):
            if self.left <= 0:
                break
            self.left -= 1
            lines += self.statement(depth)
        if depth > 1:
            self.scope = before
        return lines or ["    " * depth + "pass"]

    def statement(self, depth: int) -> list[str]:
        kinds = ["new", "new", "new", "again", "again", "augment", "call"]
        if depth < 4:
            kinds += ["if", "if", "for", "while"]
        if self.loops:
            kinds += ["exit"]
        if depth > 1 or self.outputs:
            kinds += ["early"]
        if "w" in self.arguments:
            kinds += ["element"]
        found: list[str] = getattr(self, f"write_{self.choose(*kinds)}")("    " * depth, depth)
        return found

    def write_new(self, pad: str, depth: int) -> list[str]:
        type_ = self.choose("F", "F", "F", "I", "U", "J", "B", "V3", "V2")
        name, text = f"a{next(self.serial)}", self.of(type_, 3)
        self.scope[name] = type_
        return [f"{pad}{name} = {text}"]

    def write_again(self, pad: str, depth: int) -> list[str]:
        names = [name for name in self.scope if name not in self.fixed]
        if not names:
            return self.write_new(pad, depth)
        name = self.choose(*names)
        return [f"{pad}{name} = {self.of(self.scope[name], 3)}"]

    def write_augment(self, pad: str, depth: int) -> list[str]:
        names = [name for name, type_ in self.scope.items() if name not in self.fixed and type_ != "B"]
        if not names:
            return self.write_new(pad, depth)
        name = self.choose(*names)
        type_ = self.scope[name]
        if type_ in KINDS:
            return [f"{pad}{name} {self.choose('+=', '-=', '*=', '//=', '%=', '&=', '^=')} {self.of(type_, 2)}"]
        operator = self.choose("+=", "-=", "*=", "/=") if type_ != "F" else self.choose("+=", "-=", "*=", "/=", "**=")
        return [f"{pad}{name} {operator} {'2' if operator == '**=' else self.of(type_, 2)}"]

    def write_call(self, pad: str, depth: int) -> list[str]:
        """A call of a kernel that writes two of our variables."""
        floats, whole = (
            [name for name, found in self.scope.items() if found == type_ and name not in self.fixed] for type_ in "FI"
        )
        if not floats or not whole:
            return self.write_again(pad, depth)
        given = f"{self.choose(*floats)}, {self.choose(*whole)}, {self.of(self.choose('F', 'I'), 2)}"
        name = f"a{next(self.serial)}"
        self.scope[name] = "F"
        return [f"{pad}{name} = bumped({given})"]

    def write_element(self, pad: str, depth: int) -> list[str]:
        return [f"{pad}w[{self.choose('0', '1', '-1')}] {self.choose('=', '+=', '*=')} {self.of('F', 2)}"]

    def write_if(self, pad: str, depth: int) -> list[str]:
        lines = [f"{pad}if {self.of('B', 2)}:", *self.block(depth + 1, {})]
        while self.chance(25):
            lines += [f"{pad}elif {self.of('B', 2)}:", *self.block(depth + 1, {})]
        if self.chance(50):
            lines += [f"{pad}else:", *self.block(depth + 1, {})]
        return lines

    def write_for(self, pad: str, depth: int) -> list[str]:
        name = f"n{next(self.serial)}"
        count = f"min({self.of('J', 1)}, {self.choose(2, 5)})"
        limits = self.choose(
            *("3", "1, 4", "4, -1, -2", "0"),
            count,
            f"-2, {count}",
            f"{self.choose(3, 5)}, -1, min(-1, {self.of('I', 1)})",
        )
        return [f"{pad}for {name} in range({limits}):", *self.looped(depth + 1, {name: "J"}, name)]

    def write_while(self, pad: str, depth: int) -> list[str]:
        name = f"n{next(self.serial)}"
        test = self.of("B", 2)
        head = self.choose(f"{name} < 4 and {test}", f"({test}) and {name} < 5", f"not ({name} >= 3 or {test})")
        body = self.looped(depth + 1, {name: "J"}, name)
        return [f"{pad}{name} = 0", f"{pad}while {head}:", f"{pad}    {name} += 1", *body]

    def looped(self, depth: int, extra: dict[str, str], counter: str) -> list[str]:
        self.loops += 1
        self.fixed.add(counter)
        lines = self.block(depth, extra)
        self.loops -= 1
        return lines

    def write_exit(self, pad: str, depth: int) -> list[str]:
        return [f"{pad}if {self.of('B', 1)}:", f"{pad}    {self.choose('break', 'continue')}"]

    def write_early(self, pad: str, depth: int) -> list[str]:
        return [f"{pad}if {self.of('B', 1)}:", *self.leave(depth + 1)]

    def leave(self, depth: int) -> list[str]:
        """Return what the kernel gives: a tuple is returned by its names."""
        pad = "    " * depth
        if len(self.outputs) == 1:
            return [f"{pad}return {self.of(self.types[0], 2)}"]
        lines = [f"{pad}{name} = {self.of(type_, 2)}" for name, type_ in zip(self.outputs, self.types, strict=True)]
        return [*lines, f"{pad}return {', '.join(self.outputs)}".rstrip()]

    # expressions

    def of(self, type_: str, depth: int) -> str:
        """An expression of a type."""
        names = [name for name, found in self.scope.items() if found == type_]
        if depth <= 0 or self.chance(15):
            return self.choose(*names) if names and self.chance(85) else self.plain(type_)
        found: str = getattr(self, f"of_{type_[0]}")(depth - 1, type_)
        return found

    def plain(self, type_: str) -> str:
        if type_ == "F":
            return str(self.choose(*FLOATS))
        if type_ == "B":
            return str(self.choose("True", "False", "(TENTH > 1.0)"))
        if type_ in KINDS:
            return f"{CONVERSIONS[type_]}({self.choose(*(one for one in SMALL if type_ != 'U' or one != '-1'))})"
        return f"[{', '.join(self.choose(*FLOATS[:8]) for _ in range(int(type_[1])))}]"

    def of_F(self, depth: int, type_: str) -> str:  # noqa: N802 - named for the type
        forms: list[Callable[[], str]] = [
            lambda: f"({self.of('F', depth)} {self.choose('+', '-', '*', '/', '//', '%')} {self.of('F', depth)})",
            lambda: f"({self.of('F', depth)} {self.choose('+', '-', '*')} {self.of('F', depth)})",
            lambda: f"({self.of('F', depth)} * {self.of('F', depth)} {self.choose('+', '-')} {self.of('F', depth)})",
            lambda: f"({self.of('F', depth)} {self.choose('+', '*', '/')} {self.of(self.integer(), depth)})",
            lambda: f"({self.choose(*SMALL)} {self.choose('+', '-', '*', '/', '%')} {self.of('F', depth)})",
            lambda: f"({self.of(self.integer(), depth)} / {self.of(self.integer(), depth)})",
            lambda: f"(-{self.of('F', depth)})",
            lambda: f"{self.choose(*EXACT)}({self.of('F', depth)})",
            lambda: f"{self.choose('min', 'max')}({self.of('F', depth)}, {self.of('F', depth)})",
            lambda: f"max({self.of('F', depth)}, {self.choose(*SMALL)}, {self.of(self.integer(), depth)})",
            lambda: f"{self.choose('math.copysign', 'np.fmod')}({self.of('F', depth)}, {self.of('F', depth)})",
            lambda: f"fma({self.of('F', depth)}, {self.of('F', depth)}, {self.of('F', depth)})",
            lambda: f"({self.of('F', depth)} ** {self.choose('2', '3', '7', '0', '-2', 'THREE')})",
            lambda: f"({self.of('F', depth)} if {self.of('B', depth)} else {self.of('F', depth)})",
            lambda: f"where({self.of('B', depth)}, {self.of('F', depth)}, {self.of('F', depth)})",
            lambda: f"clamp({self.of('F', depth)}, -1.0, {self.choose('2.0', 'TENTH * 20')})",
            lambda: f"{self.choose('float', 'Scalar')}({self.of(self.choose('I', 'U', 'J', 'B', 'F'), depth)})",
            lambda: f"blend({self.of('F', depth)}, {self.of('F', depth)}, {self.of('F', depth)})",
            lambda: f"grown({self.of('F', depth)}, min({self.of('J', depth)}, 4))",
            lambda: f"hypotenuse({self.of('F', depth)}, {self.of(self.choose('F', 'I'), depth)})",
            lambda: f"{self.of('V3', depth)}[{self.choose('0', '1', '2', '-1')}]",
            lambda: f"{self.of('V3', depth)}[{self.of(self.integer(), depth)} % 3]",
            lambda: f"({self.of('V3', depth)} @ {self.of('V3', depth)})",
            lambda: f"dot({self.of('V2', depth)}, {self.of('V2', depth)})",
        ]
        if "t" in self.arguments:
            forms += [lambda: f"t[{self.index(LENGTH, depth)}]"] * 3
        if "M" in self.arguments:
            forms += [lambda: f"M[{self.choose('0', '1', '-1')}, {self.choose('0', '2')}]"]
        if "q" in self.arguments:
            forms += [lambda: f"q[{self.choose('0', '3')}]"]
        if self.smooth:
            forms += [lambda: f"{self.choose(*SMOOTH)}({self.of('F', depth)})"] * 4
            forms += [lambda: f"({self.of('F', depth)} ** {self.of('F', depth)})"]
            forms += [lambda: f"math.atan2({self.of('F', depth)}, {self.of('F', depth)})"]
        return str(self.choose(*forms)())

    def integer(self) -> str:
        return str(self.choose("I", "U", "J"))

    def index(self, size: int, depth: int) -> str:
        """An index: kept inside by the kernel, or not."""
        inside = f"({self.of('J', depth)} % {size})"
        clipped = f"min(max({self.of(self.choose('I', 'J'), depth)}, 0), {size - 1})"
        return str(self.choose(inside, inside, clipped, clipped, str(size - 1), self.of(self.integer(), depth)))

    def whole(self, depth: int, type_: str) -> str:
        forms: list[Callable[[], str]] = [
            lambda: f"({self.of(type_, depth)} {self.choose('+', '-', '*', '&', '|', '^')} {self.of(type_, depth)})",
            lambda: f"({self.of(type_, depth)} {self.choose('//', '%')} {self.of(type_, depth)})",
            lambda: f"({self.of(type_, depth)} {self.choose('//', '%')} {self.choose('2', '3', '7')})",
            lambda: f"({self.of(type_, depth)} {self.choose('<<', '>>')} {self.choose(*SMALL[:4], '31', '63')})",
            lambda: f"({self.of(type_, depth)} {self.choose('<<', '>>')} {self.of(type_, depth)})",
            lambda: (
                f"({self.of(type_, depth)} {self.choose('+', '-', '*')} {self.choose('1', '2', '3', LARGE[type_])})"
            ),
            lambda: f"{self.choose('abs', '-', '~', '+')}({self.of(type_, depth)})",
            lambda: f"{self.choose('min', 'max')}({self.of(type_, depth)}, {self.of(type_, depth)})",
            lambda: f"({self.of(type_, depth)} ** {self.choose('2', '3', '5', '0')})",
            lambda: f"({self.of(type_, depth)} if {self.of('B', depth)} else {self.of(type_, depth)})",
            lambda: f"{CONVERSIONS[type_]}({self.of(self.choose('I', 'U', 'J', 'B'), depth)})",
            lambda: f"{CONVERSIONS[type_]}({self.of('F', depth)})",
            lambda: f"{CONVERSIONS[type_]}(clamp({self.of('F', depth)}, 0.0, 9.0))",
        ]
        return str(self.choose(*forms)())

    def of_I(self, depth: int, type_: str) -> str:  # noqa: N802
        if "g" in self.arguments and self.chance(30):
            return f"g[{self.index(ROWS, depth)}, {self.index(COLUMNS, depth)}]"
        if self.chance(10):
            return f"({self.of('B', depth)} {self.choose('+', '-', '*')} {self.of('B', depth)})"
        return self.whole(depth, type_)

    def of_U(self, depth: int, type_: str) -> str:  # noqa: N802
        return self.whole(depth, type_)

    def of_J(self, depth: int, type_: str) -> str:  # noqa: N802
        if self.chance(20):
            return f"({self.of('J', depth)} {self.choose('+', '-', '*', '|')} {self.of(self.integer(), depth)})"
        if self.chance(10):
            return f"({self.of('I', depth)} {self.choose('+', '-', '*', '^')} {self.of('U', depth)})"
        return self.whole(depth, type_)

    def of_B(self, depth: int, type_: str) -> str:  # noqa: N802
        compare = ("<", "<=", ">", ">=", "==", "!=")
        forms: list[Callable[[], str]] = [
            lambda: f"({self.of('F', depth)} {self.choose(*compare)} {self.of('F', depth)})",
            lambda: f"({self.of(self.integer(), depth)} {self.choose(*compare)} {self.of(self.integer(), depth)})",
            lambda: f"({self.of(self.integer(), depth)} {self.choose(*compare)} {self.of('F', depth)})",
            lambda: f"({self.of('F', depth)} {self.choose(*compare)} {self.choose(*SMALL)})",
            lambda: f"({self.of('F', depth)} <= {self.of('F', depth)} < {self.of('F', depth)})",
            lambda: f"({self.of('B', depth)} {self.choose('and', 'or')} {self.of('B', depth)})",
            lambda: f"({self.of('B', depth)} {self.choose('&', '|', '^', '==', '!=')} {self.of('B', depth)})",
            lambda: f"(not {self.of('B', depth)})",
            lambda: f"{self.choose('math.isnan', 'np.isinf', 'np.isfinite')}({self.of('F', depth)})",
            lambda: f"bool({self.of(self.choose('F', 'I', 'J'), depth)})",
            lambda: f"({self.of('B', depth)} if {self.of('B', depth)} else {self.of('B', depth)})",
        ]
        return str(self.choose(*forms)())

    def of_V(self, depth: int, type_: str) -> str:  # noqa: N802
        items = ", ".join(self.of("F", depth) for _ in range(int(type_[1])))
        forms: list[Callable[[], str]] = [
            lambda: f"[{items}]",
            lambda: f"({self.of(type_, depth)} {self.choose('+', '-', '*', '/')} {self.of(type_, depth)})",
            lambda: f"({self.of(type_, depth)} {self.choose('*', '/', '+')} {self.of('F', depth)})",
            lambda: f"({self.of('F', depth)} {self.choose('*', '-')} {self.of(type_, depth)})",
            lambda: f"(-{self.of(type_, depth)})",
            lambda: f"({self.of(type_, depth)} if {self.of('B', depth)} else {self.of(type_, depth)})",
        ]
        if "M" in self.arguments and type_ == "V2":
            forms += [lambda: f"(M @ {self.of('V3', depth)})"]
        if "M" in self.arguments and type_ == "V3":
            forms += [lambda: f"M[{self.choose('0', '1')}]"]
        return str(self.choose(*forms)())


@st.composite
def kernels(draw: st.DrawFn, smooth: bool = False, masked: bool = False) -> Case:
    """Kernels; `smooth` ones use transcendentals too, `masked` ones end sample by sample."""
    return Writer(draw, smooth, masked).case()


def written(text: str) -> Case:
    """A kernel written by hand, the last function of a text; its arguments are among those of the generated ones."""
    kernel = ast.parse(text).body[-1]
    assert isinstance(kernel, ast.FunctionDef)
    arguments = {one.arg: ast.unparse(one.annotation) for one in kernel.args.args if one.annotation}
    return Case(HEADER + text, arguments, output_names(kernel))
