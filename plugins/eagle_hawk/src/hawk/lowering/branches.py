"""Two paths and where they meet: which variables have a value there, and of what type."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eagle_ir import Block, Instruction, Type, Value
from hawk.lowering.arithmetic import common_type
from hawk.lowering.emitter import is_cheap
from hawk.lowering.frame import FLAGS, RETURN, VALUE, Frame, fits
from hawk.lowering.values import Element, Group, Items, Kind, Known, Number, Shaped, Static, TableRef, Unset, Val
from hawk.lowering.values import kind_name as name_of

__all__ = [
    "Path",
    "choose",
    "convert",
    "flatten",
    "kind_of",
    "merge",
    "path",
    "rebuild",
    "types_of",
    "unchanged",
    "unify",
    "zeros",
]


@dataclass(slots=True)
class Path:
    """Instructions made aside, and the variables at their end."""

    instructions: list[Instruction]
    variables: dict[str, Val | Unset]

    @property
    def returned(self) -> bool:
        """Whether it has left the function for sure."""
        return self.variables.get(RETURN) == Known(True)

    def value(self, name: str) -> Val | Unset:
        """Return a variable at its end; a flag nobody touched is not set."""
        return self.variables.get(name, Known(False) if name in FLAGS else Unset())


def path(frame: Frame, build: Callable[[], object]) -> Path:
    """Build one path from the variables as they are, and put these back."""
    before = frame.variables
    frame.variables = dict(before)
    try:
        with frame.emitter.inside([]) as instructions:
            build()
        return Path(instructions, frame.variables)
    finally:
        frame.variables = before


def expression_path(frame: Frame, node: ast.AST, build: Callable[[], object]) -> Path:
    """Build a path of an expression, which writes no variable."""
    before = frame.variables

    def checked() -> None:
        build()
        unchanged(frame, node, before)

    return path(frame, checked)


def unchanged(frame: Frame, node: ast.AST, before: dict[str, Val | Unset]) -> None:
    """Refuse an expression that wrote a variable, where what it wrote would be lost."""
    for name, value in frame.variables.items():
        if before.get(name) != value:
            raise frame.error(
                node,
                f"a kernel called in a condition or a choice writes {name!r}",
                fix="Call it on a line of its own",
            )


def merge(frame: Frame, node: ast.AST, condition: Value, then: Path, orelse: Path) -> None:
    """Let two paths meet: the variables are what both agree on, or the result of a choice.

    On a path that has left the function only what the caller sees still counts; other variables are as on the
    other path.
    """
    names = list(dict.fromkeys([*then.variables, *orelse.variables]))
    chosen: list[tuple[str, Kind]] = []
    after: dict[str, Val | Unset] = {}
    for name in names:
        one, two = (_seen(frame, name, mine, other) for mine, other in ((then, orelse), (orelse, then)))
        if isinstance(one, Unset) or isinstance(two, Unset) or (_both_returned(then, orelse, frame, name)):
            after[name] = Unset()
        elif one == two and _is_outside(frame, name, one, then, orelse):
            after[name] = one
        else:
            chosen.append((name, _agree(frame, node, name, one, two)))
    ends = [_end(frame, node, mine, other, chosen) for mine, other in ((then, orelse), (orelse, then))]
    results = list(frame.emitter.add_if(condition, *ends))
    for name, kind in chosen:
        after[name] = rebuild(kind, results)
    frame.variables = after


def _seen(frame: Frame, name: str, mine: Path, other: Path) -> Val | Unset:
    """Return a variable at the end of a path, or that of the other path where this one's does not count."""
    value, there = mine.value(name), other.value(name)
    if name == VALUE:
        return there if isinstance(value, Unset) else value
    if mine.returned and not other.returned and not _is_kept(frame, name):
        return there
    return value


def _both_returned(then: Path, orelse: Path, frame: Frame, name: str) -> bool:
    return then.returned and orelse.returned and not _is_kept(frame, name)


def _is_outside(frame: Frame, name: str, value: Val, then: Path, orelse: Path) -> bool:
    """Whether a value both paths agree on can be seen where they meet: it was not computed on one of them."""
    if isinstance(value, Known | Static | TableRef) or frame.variables.get(name) == value:
        return True
    return then.value(name) == orelse.value(name)


def _is_kept(frame: Frame, name: str) -> bool:
    return name.startswith("@") or (name in frame.declared and frame.declared[name].mode == "rw")


def _end(frame: Frame, node: ast.AST, mine: Path, other: Path, chosen: Sequence[tuple[str, Kind]]) -> Block:
    """Finish a path with what it yields for each chosen variable."""
    yields: list[Value] = []
    with frame.emitter.inside(mine.instructions):
        for name, kind in chosen:
            value = mine.value(name)
            ignored = name != VALUE and mine.returned and not other.returned and not _is_kept(frame, name)
            if isinstance(value, Unset) or ignored:
                yields += zeros(frame, kind)
            else:
                yields += flatten(convert(frame, node, value, kind))
    return Block(tuple(mine.instructions), tuple(yields))


def _agree(frame: Frame, node: ast.AST, name: str, one: Val, two: Val) -> Kind:
    what = "the returned value" if name == VALUE else f"{name!r}"
    return unify(frame, node, what, one, two)


def kind_of(value: Val) -> Kind | None:
    """Return the kind of a value that a loop or a choice can carry, or None."""
    if isinstance(value, Known):
        return Type.BOOL if value.is_bool else Type.I64
    if isinstance(value, Number):
        return value.type
    if isinstance(value, Group):
        return Shaped(value.shape, value.type)
    if isinstance(value, Items):
        kinds = [kind_of(one) for one in value.items]
        return None if None in kinds else tuple(one for one in kinds if one is not None)
    return None


def unify(frame: Frame, node: ast.AST, what: str, one: Val, two: Val) -> Kind:
    """Return the kind both values can be converted to."""
    if isinstance(one, Known | Number) and isinstance(two, Known | Number):
        return _unify_numbers(one, two)
    if isinstance(one, Group) and isinstance(two, Group) and one.shape == two.shape:
        return Shaped(one.shape, common_type(one.type, two.type))
    if isinstance(one, Items) and isinstance(two, Items) and len(one.items) == len(two.items):
        return tuple(unify(frame, node, what, a, b) for a, b in zip(one.items, two.items, strict=True))
    if Items(()) in (one, two) and what == "the returned value":
        raise frame.error(node, "one path returns a value and another does not", fix="Return a value on every path")
    raise frame.error(
        node,
        f"{what} is {name_of(one)} on one path and {name_of(two)} on another",
        fix="Give it one type, or use two names",
    )


def _unify_numbers(one: Element, two: Element) -> Type:
    if isinstance(one, Number) and isinstance(two, Number):
        return common_type(one.type, two.type)
    if isinstance(one, Known) and isinstance(two, Known):
        return Type.BOOL if one.is_bool and two.is_bool else Type.I64
    known, number = (one, two) if isinstance(one, Known) else (two, one)
    assert isinstance(known, Known)
    assert isinstance(number, Number)
    if known.is_bool:
        return common_type(Type.BOOL, number.type)
    if number.type.is_float:
        return number.type
    type_ = Type.I32 if number.type is Type.BOOL else number.type
    return type_ if fits(known.number, type_) else Type.I64


def convert(frame: Frame, node: ast.AST, value: Val, kind: Kind) -> Val:
    """Return a value as the given kind, which it was unified to."""
    if isinstance(value, Known | Number):
        assert isinstance(kind, Type)
        return frame.typed(node, value, kind)
    if isinstance(value, Group):
        assert isinstance(kind, Shaped)
        return frame.shaped(node, value, kind.type)
    assert isinstance(value, Items)
    assert isinstance(kind, tuple)
    return Items(tuple(convert(frame, node, one, part) for one, part in zip(value.items, kind, strict=True)))


def flatten(value: Val) -> list[Value]:
    """Return the numbers a value consists of."""
    if isinstance(value, Number):
        return [value.value]
    if isinstance(value, Group):
        return [item.value for item in value.items]
    assert isinstance(value, Items)
    return [number for one in value.items for number in flatten(one)]


def rebuild(kind: Kind, values: list[Value]) -> Val:
    """Make a value of a kind from the first of `values`, which are taken away."""
    if isinstance(kind, Type):
        return Number(values.pop(0))
    if isinstance(kind, Shaped):
        count = 1
        for size in kind.shape:
            count *= size
        return Group(kind.shape, tuple(Number(values.pop(0)) for _ in range(count)))
    return Items(tuple(rebuild(one, values) for one in kind))


def zeros(frame: Frame, kind: Kind) -> list[Value]:
    """Return values for a path on which nobody looks."""
    if isinstance(kind, tuple):
        return [value for one in kind for value in zeros(frame, one)]
    return flatten(frame.zero(kind))


def types_of(kind: Kind) -> list[Type]:
    """Return the types of the numbers a value of a kind consists of."""
    if isinstance(kind, Type):
        return [kind]
    if isinstance(kind, Shaped):
        count = 1
        for size in kind.shape:
            count *= size
        return [kind.type] * count
    return [type_ for one in kind for type_ in types_of(one)]


def choose(frame: Frame, node: ast.AST, condition: Value, then: Callable[[], Val], orelse: Callable[[], Val]) -> Val:
    """An expression that is one of two: a select where both cost little and cannot fault, else a choice of blocks."""
    found: list[Val] = []
    sides = [expression_path(frame, node, lambda build=build: found.append(build())) for build in (then, orelse)]  # type: ignore[misc]
    one, two = found
    if one == two and not isinstance(one, Number | Group | Items):
        return one
    if isinstance(one, Static | TableRef) or isinstance(two, Static | TableRef):
        raise frame.error(node, f"the choice between {name_of(one)} and {name_of(two)} is made while the kernel runs")
    kind = unify(frame, node, "this", one, two)
    ends = []
    for side, value in zip(sides, found, strict=True):
        with frame.emitter.inside(side.instructions):
            ends.append(flatten(convert(frame, node, value, kind)))
    if all(is_cheap(side.instructions) for side in sides):
        for side in sides:
            frame.emitter.splice(side.instructions)
        pairs = zip(*ends, strict=True)
        return rebuild(kind, [a if a == b else frame.emitter.compute("select", condition, a, b) for a, b in pairs])
    blocks = [Block(tuple(side.instructions), tuple(end)) for side, end in zip(sides, ends, strict=True)]
    return rebuild(kind, list(frame.emitter.add_if(condition, *blocks)))
