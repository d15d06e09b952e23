"""Statements of the language, and the ways out of them: return, break, continue."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from eagle_ir import Value
from hawk.lowering.assignment import assign, augment
from hawk.lowering.branches import Path, merge, path
from hawk.lowering.expressions import evaluate
from hawk.lowering.frame import BREAK, CONTINUE, FLAGS, RETURN, VALUE, Frame
from hawk.lowering.values import Items, Known, Number, Static, TableRef

__all__ = ["body", "exit_flag"]


def body(frame: Frame, statements: Sequence[ast.stmt]) -> None:
    """Lower statements in order. What follows one that may leave is put behind a test of whether it did."""
    for position, statement in enumerate(statements):
        rest = statements[position + 1 :]
        if isinstance(statement, ast.If):
            if _if(frame, statement, rest):
                return
        else:
            _statement(frame, statement)
        left = exit_flag(frame)
        if left is True:
            return
        if left is not False and rest:
            _guarded(frame, statement, left, rest)
            return


def exit_flag(frame: Frame) -> bool | Value:
    """Return whether this path has left the statements it is in."""
    flags = [frame.variables.get(name, Known(False)) for name in FLAGS]
    if Known(True) in flags:
        return True
    numbers = [one for one in flags if isinstance(one, Number)]
    if not numbers:
        return False
    result = numbers[0]
    for one in numbers[1:]:
        result = frame.compute("or", result, one)
    return result.value


def _guarded(frame: Frame, node: ast.stmt, left: Value, rest: Sequence[ast.stmt]) -> None:
    """Lower the rest for the samples that have not left."""
    open_flags = [name for name in FLAGS if isinstance(frame.variables.get(name), Number)]

    def gone() -> None:
        if len(open_flags) == 1:
            frame.variables[open_flags[0]] = Known(True)

    def going() -> None:
        for name in open_flags:
            frame.variables[name] = Known(False)
        body(frame, rest)

    merge(frame, node, left, path(frame, gone), path(frame, going))


def _if(frame: Frame, node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Lower an if. Where one side leaves for sure the rest belongs to the other: it is then done, and True returned."""
    condition = frame.condition(node.test, evaluate(frame, node.test))
    if isinstance(condition, bool):
        body(frame, node.body if condition else node.orelse)
        return False
    sides = [path(frame, lambda part=part: body(frame, part)) for part in (node.body, node.orelse)]  # type: ignore[misc]
    states = [_state(frame, side) for side in sides]
    done = bool(rest) and set(map(str, states)) == {"True", "False"}
    if done:
        _continue(frame, sides[states.index(False)], rest)
    merge(frame, node, condition, sides[0], sides[1])
    return done


def _state(frame: Frame, side: Path) -> bool | None:
    """Whether a path leaves: for sure, never, or for some samples (None)."""
    flags = [side.variables.get(name, Known(False)) for name in FLAGS]
    if Known(True) in flags:
        return True
    return None if any(isinstance(one, Number) for one in flags) else False


def _continue(frame: Frame, side: Path, rest: Sequence[ast.stmt]) -> None:
    before, frame.variables = frame.variables, side.variables
    try:
        with frame.emitter.inside(side.instructions):
            body(frame, rest)
        side.variables = frame.variables
    finally:
        frame.variables = before


def _statement(frame: Frame, node: ast.stmt) -> None:
    handler = _HANDLERS.get(type(node))
    if handler is None:
        name, fix = _REFUSED.get(type(node), (type(node).__name__, ""))
        raise frame.error(node, f"{name} is not part of the kernel language", fix=fix)
    handler(frame, node)


def _assign(frame: Frame, node: ast.Assign) -> None:
    value = evaluate(frame, node.value)
    for target in node.targets:
        assign(frame, target, value)


def _annotated(frame: Frame, node: ast.AnnAssign) -> None:
    raise frame.error(
        node.annotation, "an annotation of a variable is not part of the kernel language", fix="Assign without it"
    )


def _expression(frame: Frame, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and (isinstance(node.value.value, str) or node.value.value is ...):
        return
    if not isinstance(node.value, ast.Call):
        raise frame.error(node, "this has no effect", fix="Assign it to a variable")
    value = evaluate(frame, node.value)
    if value != Items(()):
        raise frame.error(node, "the result of this call is thrown away", fix="Assign it to a variable")


def _return(frame: Frame, node: ast.Return) -> None:
    value = Items(()) if node.value is None else evaluate(frame, node.value)
    if isinstance(value, Static | TableRef) and not (isinstance(value, Static) and value.thing is None):
        raise frame.error(
            node, "a kernel returns numbers and vectors", fix="Return a number, a vector or a tuple of them"
        )
    frame.variables[VALUE] = Items(()) if isinstance(value, Static) else value
    frame.variables[RETURN] = Known(True)


def _break(frame: Frame, node: ast.Break) -> None:
    frame.variables[BREAK] = Known(True)


def _next(frame: Frame, node: ast.Continue) -> None:
    frame.variables[CONTINUE] = Known(True)


def _pass(frame: Frame, node: ast.Pass) -> None:
    pass


def _while(frame: Frame, node: ast.While) -> None:
    from hawk.lowering.loops import while_loop

    while_loop(frame, node)


def _for(frame: Frame, node: ast.For) -> None:
    from hawk.lowering.loops import for_loop

    for_loop(frame, node)


_HANDLERS: dict[type[ast.stmt], Callable[[Frame, Any], None]] = {
    ast.Assign: _assign,
    ast.AugAssign: augment,
    ast.AnnAssign: _annotated,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _next,
    ast.Pass: _pass,
    ast.While: _while,
    ast.For: _for,
}

_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Assert: ("assert", "Check arrays before the launch, or set a Mutable[Bool] and look at it afterwards"),
    ast.Raise: ("raise", "Set a Mutable[Bool] and look at it after the launch"),
    ast.Try: ("try", "Test the values first: floats never raise, they give infinity or NaN"),
    ast.With: ("with", ""),
    ast.FunctionDef: ("a function inside a kernel", "Define the helper outside and call it"),
    ast.AsyncFunctionDef: ("a function inside a kernel", "Define the helper outside and call it"),
    ast.ClassDef: ("a class", ""),
    ast.Delete: ("del", ""),
    ast.Import: ("import", "Import at the top of the file"),
    ast.ImportFrom: ("import", "Import at the top of the file"),
    ast.Global: ("global", "Pass the value as a Param, or return it"),
    ast.Nonlocal: ("nonlocal", "Pass the value as a Param, or return it"),
    ast.Match: ("match", "Write if and elif"),
    ast.AsyncFor: ("async for", "Write for"),
    ast.AsyncWith: ("async with", ""),
}
