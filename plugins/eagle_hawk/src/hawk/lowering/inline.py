"""Calls to plain functions and to other kernels: their bodies take the place of the call."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING

from hawk.annotations import Annotation
from hawk.lowering.assignment import assign, fit
from hawk.lowering.constants import constant
from hawk.lowering.expressions import evaluate
from hawk.lowering.frame import RETURN, VALUE, Frame
from hawk.lowering.scope import Scope
from hawk.lowering.statements import body
from hawk.lowering.values import Items, Known, TableRef, Unset, Val, kind_name
from hawk.source import source_of

if TYPE_CHECKING:
    from hawk.kernel import KernelFunction

__all__ = ["call_function", "call_kernel", "result"]

DEEPEST = 40
"""How deep calls may be nested."""


def call_function(frame: Frame, node: ast.Call, function: FunctionType) -> Val:
    """Inline a plain helper function."""
    try:
        source = source_of(function, frame.source)
    except SyntaxError as error:
        raise frame.error(
            node, f"{function.__name__}() cannot be inlined", why=str(getattr(error, "msg", error))
        ) from None
    if source.node.decorator_list:
        raise frame.error(
            node,
            f"{function.__name__}() has a decorator",
            fix="Call the function behind it, or leave the decorator out",
        )
    callee = Frame(frame.shared, source, Scope(function, frame.shared.frozen))
    given = _given(frame, node, function, source.node)
    callee.parameters = frozenset(given)
    callee.variables = {name: evaluate(frame, value) for name, value in given.items() if value is not None}
    for name, value in given.items():
        if value is None:
            callee.variables[name] = constant(callee, source.node, _default(function, source.node, name))
    return _inlined(frame, node, callee)


def call_kernel(frame: Frame, node: ast.Call, kernel: KernelFunction) -> Val:
    """Inline another kernel. What it writes in place has to be a variable here, which then holds the new value."""
    given = _given(frame, node, kernel.function, kernel.definition.node)
    callee = Frame(frame.shared, kernel.definition, Scope(kernel.function, frame.shared.frozen))
    callee.declared = kernel.annotations
    for name, value in given.items():
        assert value is not None
        callee.variables[name] = _argument(frame, value, name, kernel.annotations[name])
    found = _inlined(frame, node, callee)
    for name, annotation in kernel.annotations.items():
        target = given[name]
        if annotation.mode == "rw" and target is not None:
            after = callee.variables[name]
            assert not isinstance(after, Unset)
            assign(frame, target, after)
    return found


def _argument(frame: Frame, node: ast.expr, name: str, annotation: Annotation) -> Val:
    value = evaluate(frame, node)
    if annotation.role == "table":
        if not isinstance(value, TableRef):
            raise frame.error(node, f"{name!r} is a table, not {kind_name(value)}", fix="Pass a Table argument on")
        mine, wanted = value.argument, annotation.argument(name, frame.scalar)
        if mine.dtype != wanted.dtype or len(mine.shape) != len(wanted.shape):
            raise frame.error(node, f"{mine.name} is another table than {annotation.text}")
        return value
    if annotation.mode == "rw" and not isinstance(node, ast.Name):
        raise frame.error(node, f"{name!r} is written in place", fix="Pass a variable")
    return fit(frame, node, name, value, annotation)


def _inlined(frame: Frame, node: ast.Call, callee: Frame) -> Val:
    function, stack = callee.scope.function, frame.shared.stack
    if function in stack:
        raise frame.error(node, f"{function.__name__} calls itself", fix="Write a loop")
    if len(stack) >= DEEPEST:
        raise frame.error(node, f"calls are nested deeper than {DEEPEST}")
    stack.append(function)
    try:
        body(callee, callee.source.node.body)
    finally:
        stack.pop()
    return result(callee)


def result(frame: Frame) -> Val:
    """Return what a function that was lowered returned; an empty tuple for nothing."""
    returned = frame.variables.get(RETURN, Known(False))
    value = frame.variables.get(VALUE, Items(()))
    assert not isinstance(value, Unset)
    if returned == Known(True) or value == Items(()):
        return value
    raise frame.error(
        frame.source.node,
        f"{frame.source.node.name} returns a value on one path and ends without one on another",
        fix="Return a value at its end too",
    )


def _given(
    frame: Frame, node: ast.Call, function: FunctionType, definition: ast.FunctionDef
) -> Mapping[str, ast.expr | None]:
    """Return the expression for every parameter, None for one left to its default."""
    parameters = definition.args
    if parameters.vararg or parameters.kwarg:
        raise frame.error(node, f"{definition.name} takes *args or **kwargs", fix="Name its parameters")
    positional = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
    only_positional = {one.arg for one in parameters.posonlyargs}
    names = [*positional, *(one.arg for one in parameters.kwonlyargs)]
    if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
        raise frame.error(node, "unpacking with * is not part of the kernel language", fix="Write the arguments out")
    if len(node.args) > len(positional):
        raise frame.error(node, f"{definition.name} takes {len(positional)} arguments, not {len(node.args)}")
    given: dict[str, ast.expr | None] = dict(zip(positional, node.args, strict=False))
    for keyword in node.keywords:
        assert keyword.arg is not None
        if keyword.arg not in names or keyword.arg in only_positional:
            raise frame.error(keyword.value, f"{definition.name} has no argument {keyword.arg!r}")
        if keyword.arg in given:
            raise frame.error(keyword.value, f"{definition.name} is given {keyword.arg!r} twice")
        given[keyword.arg] = keyword.value
    optional = _optional(function, positional)
    for name in names:
        if name not in given and name not in optional:
            raise frame.error(node, f"{definition.name} is missing the argument {name!r}")
    return {name: given.get(name) for name in names}


def _optional(function: FunctionType, positional: list[str]) -> set[str]:
    count = len(function.__defaults__ or ())
    return {*positional[len(positional) - count :], *(function.__kwdefaults__ or {})}


def _default(function: FunctionType, definition: ast.FunctionDef, name: str) -> object:
    if name in (function.__kwdefaults__ or {}):
        return (function.__kwdefaults__ or {})[name]
    positional = [one.arg for one in (*definition.args.posonlyargs, *definition.args.args)]
    defaults = function.__defaults__ or ()
    return defaults[positional.index(name) - (len(positional) - len(defaults))]
