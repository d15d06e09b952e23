"""Loops: what they carry, of what type, and how they end."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from eagle_ir import Block, Instruction, Type, Value
from hawk.lowering.arithmetic import binary, compare
from hawk.lowering.assigned import assigned_names, leaves
from hawk.lowering.assignment import assign
from hawk.lowering.branches import convert, flatten, kind_of, rebuild, types_of, unchanged, unify, zeros
from hawk.lowering.expressions import decided, evaluate, number
from hawk.lowering.frame import BREAK, CONTINUE, RETURN, VALUE, Frame
from hawk.lowering.statements import body as lower_body
from hawk.lowering.values import Element, Kind, Known, Number, Static, Unset, Val, kind_name

__all__ = ["for_loop", "while_loop"]


@dataclass(slots=True)
class _Loop:
    """One loop while it is lowered.

    Attributes
    ----------
    node : ast.stmt
    statements : list of ast.stmt
    test : callable
        Lowers the condition.
    begin, end : callable
        What an iteration does before and after the statements.
    runs : bool
        Whether it is known to run at least once.
    endless : bool
        Whether it is left by return and break only.
    names : list of str
        What it assigns.
    kinds : dict
        The kind of each variable it carries.
    """

    node: ast.stmt
    statements: list[ast.stmt]
    test: Callable[[], Val]
    begin: Callable[[], None]
    end: Callable[[], None]
    runs: bool
    endless: bool
    names: list[str]
    kinds: dict[str, Kind] = field(default_factory=dict)


@dataclass(slots=True)
class _Attempt:
    arguments: tuple[Value, ...]
    condition: Block
    instructions: list[Instruction]
    ends: dict[str, Val | Unset]


def while_loop(frame: Frame, node: ast.While) -> None:
    """``while``."""
    _no_else(frame, node)
    always = isinstance(node.test, ast.Constant) and bool(node.test.value)

    def test() -> Val:
        found = frame.condition(node.test, evaluate(frame, node.test))
        return Known(found) if isinstance(found, bool) else Number(found)

    names = assigned_names(node.body)
    _run(frame, _Loop(node, node.body, test, _nothing, _nothing, always, always, names))


def for_loop(frame: Frame, node: ast.For) -> None:
    """``for i in range(...)``. The loop counts by itself: assigning to its variable does not change that."""
    _no_else(frame, node)
    start, stop, step = _range(frame, node)
    frame.shared.serial += 1
    counter = f"@counter{frame.shared.serial}"
    if isinstance(start, Known) and isinstance(stop, Known) and isinstance(step, Known):
        known = range(int(start.number), int(stop.number), int(step.number))
        if not known:
            return
        _count(frame, node, counter, (start, stop, step), (min(known[0], known[-1]), max(known[0], known[-1])))
    elif isinstance(step, Known):
        _count(frame, node, counter, (start, stop, step), None)
    else:
        _count_trips(frame, node, counter, (start, stop, step))
    del frame.variables[counter]


def _count(
    frame: Frame, node: ast.For, counter: str, limits: tuple[Element, Element, Known], bounds: tuple[int, int] | None
) -> None:
    """A loop with a constant step: the counter is compared with the stop."""
    start, stop, step = limits
    fixed = stop if isinstance(stop, Known) else frame.typed(node.iter, stop, Type.I64)
    frame.variables[counter] = frame.typed(node.iter, start, Type.I64)

    def test() -> Val:
        return compare(frame, node.iter, "lt" if step.number > 0 else "gt", _number(frame, counter), fixed)

    def begin() -> None:
        assign(frame, node.target, Number(_number(frame, counter).value, bounds))

    def end() -> None:
        now = _number(frame, counter)
        after = binary(frame, node.iter, "add", now, step)
        if _may_wrap(int(step.number), bounds):  # a step past the end of the integers ends the loop
            wrapped = compare(frame, node.iter, "lt" if step.number > 0 else "gt", after, now)
            ending = frame.typed(node.iter, stop, Type.I64)
            after = frame.compute(
                "select", frame.typed(node.iter, wrapped, Type.BOOL), ending, frame.typed(node.iter, after, Type.I64)
            )
        frame.variables[counter] = after

    names = [counter, *assigned_names([node.target, *node.body])]
    _run(frame, _Loop(node, node.body, test, begin, end, bounds is not None, False, names))


def _may_wrap(step: int, bounds: tuple[int, int] | None) -> bool:
    """Whether the counter may leave the integers with its last step; one of 1 meets the stop before."""
    if bounds is None:
        return abs(step) != 1
    return not -(2**63) <= (bounds[1] if step > 0 else bounds[0]) + step < 2**63


def _count_trips(frame: Frame, node: ast.For, counter: str, limits: tuple[Element, Element, Element]) -> None:
    """A loop with a step known only at run time: the iterations are counted first. A step of zero faults."""
    start, stop, step = (frame.typed(node.iter, one, Type.I64) for one in limits)
    one, zero = frame.const(1, Type.I64), frame.const(0, Type.I64)
    sign = frame.compute("select", frame.compute("gt", step, zero), one, frame.const(-1, Type.I64))
    span = frame.compute("sub", frame.compute("add", frame.compute("sub", stop, start), step), sign)
    trips = frame.compute("floordiv", span, step, node=node.iter)
    frame.variables[counter] = zero

    def test() -> Val:
        return frame.compute("lt", _number(frame, counter), trips)

    def begin() -> None:
        offset = frame.compute("mul", _number(frame, counter), step)
        assign(frame, node.target, frame.compute("add", start, offset))

    def end() -> None:
        frame.variables[counter] = frame.compute("add", _number(frame, counter), one)

    names = [counter, *assigned_names([node.target, *node.body])]
    _run(frame, _Loop(node, node.body, test, begin, end, False, False, names))


def _range(frame: Frame, node: ast.For) -> tuple[Element, Element, Element]:
    call = node.iter
    if not isinstance(node.target, ast.Name):
        raise frame.error(node.target, "the variable of a loop is one name", fix="Write for i in range(...)")
    if not isinstance(call, ast.Call) or evaluate(frame, call.func) != Static(range) or call.keywords:
        raise frame.error(call, "a loop runs over range(...)", fix="Write for i in range(len(v)), and v[i]")
    if not 1 <= len(call.args) <= 3:
        raise frame.error(call, "range takes one to three whole numbers")
    limits = [number(frame, one) for one in call.args]
    for argument, value in zip(call.args, limits, strict=True):
        if isinstance(value, Number) and not value.type.is_integer:
            raise frame.error(argument, f"range takes whole numbers, not {kind_name(value)}", fix="Convert with int()")
    first, *others = limits
    start, stop = (first, others[0]) if others else (Known(0), first)
    step = others[1] if len(others) == 2 else Known(1)
    if isinstance(step, Known) and step.number == 0:
        raise frame.error(call, "the step of a range is not zero")
    return start, stop, step


def _run(frame: Frame, loop: _Loop) -> None:
    """Lower a loop: again with wider types while an iteration leaves a variable in a wider one than it began with."""
    loop.names += _flags(loop)
    while True:
        entry = {name: frame.variables.get(name, Unset()) for name in loop.names}
        entry |= {name: Known(False) for name in (BREAK, RETURN) if name in entry}
        for name, value in entry.items():
            if name not in loop.kinds and not isinstance(value, Unset):
                loop.kinds[name] = _carried(frame, loop, name, value)
        attempt = _attempt(frame, loop)
        if attempt is None:
            return
        written = _written(frame, loop, attempt)
        kinds = _widened(frame, loop, attempt)
        if not written and kinds == loop.kinds:
            break
        loop.names += written
        loop.kinds = kinds
    _finish(frame, loop, entry, attempt)


def _written(frame: Frame, loop: _Loop, attempt: _Attempt) -> list[str]:
    """Return the variables that a kernel called in the body has written."""
    return [
        name
        for name, before in frame.variables.items()
        if name not in loop.names and not name.startswith("@") and attempt.ends.get(name) != before
    ]


def _flags(loop: _Loop) -> list[str]:
    found = leaves(loop.statements)
    names = [BREAK] if ast.Break in found else []
    return [*names, RETURN, VALUE] if ast.Return in found else names


def _carried(frame: Frame, loop: _Loop, name: str, value: Val) -> Kind:
    kind = kind_of(value)
    if kind is None:
        raise frame.error(loop.node, f"{name!r} is {kind_name(value)}: a loop cannot change it", fix="Use another name")
    return kind


def _attempt(frame: Frame, loop: _Loop) -> _Attempt | None:
    """Lower condition and body with the kinds as they are; None when the loop is known never to run."""
    before = dict(frame.variables)
    arguments = frame.emitter.fresh([type_ for kind in loop.kinds.values() for type_ in types_of(kind)])
    waiting = list(arguments)
    carried: dict[str, Val] = {name: rebuild(kind, waiting) for name, kind in loop.kinds.items()}
    inside: dict[str, Val | Unset] = {**before, **dict.fromkeys(loop.names, Unset()), **carried}
    inside |= {name: Known(False) for name in (RETURN, BREAK, CONTINUE)}
    if before.get(VALUE) is None:
        inside.pop(VALUE, None)
    try:
        with frame.emitter.inside([]) as tests:
            frame.variables = dict(inside)
            going = _going(frame, loop, carried)
            unchanged(frame, loop.node, inside)
            if going == Known(False):
                return None
            yields = going.value if isinstance(going, Number) else frame.const(True, Type.BOOL).value
        with frame.emitter.inside([]) as instructions:
            frame.variables = dict(inside)
            loop.begin()
            lower_body(frame, loop.statements)
            loop.end()
        return _Attempt(arguments, Block(tuple(tests), (yields,)), instructions, frame.variables)
    finally:
        frame.variables = before


def _going(frame: Frame, loop: _Loop, carried: dict[str, Val]) -> Val:
    """The condition, after the flags: it is not evaluated once the loop has been left."""
    flags = [carried[name] for name in (BREAK, RETURN) if name in carried]
    numbers = [one for one in flags if isinstance(one, Number)]
    if not numbers:
        return loop.test()
    left = numbers[0] if len(numbers) == 1 else frame.compute("or", *numbers)
    return decided(frame, loop.node, True, frame.compute("not", left), loop.test)


def _widened(frame: Frame, loop: _Loop, attempt: _Attempt) -> dict[str, Kind]:
    kinds = dict(loop.kinds)
    for name in loop.names:
        end = attempt.ends.get(name, Unset())
        if isinstance(end, Unset):
            continue
        if name in kinds:
            stand_in = rebuild(kinds[name], list(frame.emitter.fresh(types_of(kinds[name]))))
            kinds[name] = unify(frame, loop.node, f"{name!r}", stand_in, end)
        elif name == VALUE or loop.runs:
            kind = kind_of(end)
            if kind is not None:
                kinds[name] = kind
    return {name: kinds[name] for name in loop.names if name in kinds}


def _finish(frame: Frame, loop: _Loop, entry: dict[str, Val | Unset], attempt: _Attempt) -> None:
    initial: list[Value] = []
    yields: list[Value] = []
    for name, kind in loop.kinds.items():
        value = entry[name]
        initial += zeros(frame, kind) if isinstance(value, Unset) else flatten(convert(frame, loop.node, value, kind))
    with frame.emitter.inside(attempt.instructions):
        for name, kind in loop.kinds.items():
            end = attempt.ends.get(name, Unset())
            yields += zeros(frame, kind) if isinstance(end, Unset) else flatten(convert(frame, loop.node, end, kind))
    step = Block(tuple(attempt.instructions), tuple(yields))
    results = list(frame.emitter.add_while(initial, attempt.arguments, attempt.condition, step))
    for name in loop.names:
        if name in loop.kinds:
            frame.variables[name] = rebuild(loop.kinds[name], results)
        else:
            frame.variables[name] = Unset()
    _after(frame, loop, attempt)


def _after(frame: Frame, loop: _Loop, attempt: _Attempt) -> None:
    """Set what is known behind the loop of how it was left."""
    broken = frame.variables.pop(BREAK, None)
    if RETURN in loop.names and loop.endless and broken is None:
        frame.variables[RETURN] = Known(True)
    for name in (VALUE,):
        if isinstance(frame.variables.get(name), Unset):
            del frame.variables[name]
    for name in loop.names:
        if name in attempt.ends and isinstance(attempt.ends[name], Unset) and not name.startswith("@"):
            frame.variables[name] = Unset()


def _number(frame: Frame, name: str) -> Number:
    value = frame.variables[name]
    assert isinstance(value, Number)
    return value


def _no_else(frame: Frame, node: ast.For | ast.While) -> None:
    if node.orelse:
        raise frame.error(node.orelse[0], "else after a loop is not part of the kernel language", fix="Set a flag")


def _nothing() -> None:
    pass
