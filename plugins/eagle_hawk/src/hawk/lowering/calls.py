"""Calls: of functions the language knows, of annotations as conversions, of helpers and kernels."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType

from hawk.annotations import Annotation
from hawk.lowering.expressions import evaluate
from hawk.lowering.frame import Frame
from hawk.lowering.functions import FUNCTIONS
from hawk.lowering.inline import call_function, call_kernel
from hawk.lowering.recognised import name_of
from hawk.lowering.values import Static, Val, kind_name
from hawk.lowering.vectors import convert_elements

__all__ = ["call"]


def call(frame: Frame, node: ast.Call) -> Val:
    """A call."""
    from hawk.kernel import KernelFunction

    target = evaluate(frame, node.func)
    if not isinstance(target, Static):
        raise frame.error(node.func, f"{kind_name(target)} cannot be called", fix="Multiplication is written a * b")
    thing = target.thing
    name = name_of(thing)
    if name is not None:
        return _known(frame, node, name, _plain(frame, node))
    if isinstance(thing, KernelFunction):
        return call_kernel(frame, node, thing)
    if isinstance(thing, Annotation):
        return _conversion(frame, node, thing, _plain(frame, node))
    if isinstance(thing, FunctionType) and thing.__module__ == "hawk.vectors":
        return FUNCTIONS[thing.__name__](frame, node, _plain(frame, node))
    if isinstance(thing, FunctionType):
        return call_function(frame, node, thing)
    raise frame.error(
        node.func,
        f"{ast.unparse(node.func)} cannot be called in a kernel",
        fix=_HINTS.get(ast.unparse(node.func), _HINT),
    )


def _plain(frame: Frame, node: ast.Call) -> list[Val]:
    if node.keywords:
        raise frame.error(node.keywords[0].value, f"{ast.unparse(node.func)} takes no keyword arguments here")
    return [evaluate(frame, one) for one in node.args]


def _known(frame: Frame, node: ast.Call, name: str, values: Sequence[Val]) -> Val:
    handler = FUNCTIONS.get(name)
    if handler is None:
        raise frame.error(node.func, f"{ast.unparse(node.func)} is not for here", fix="range(...) stands in a for")
    return handler(frame, node, values)


def _conversion(frame: Frame, node: ast.Call, annotation: Annotation, values: Sequence[Val]) -> Val:
    if annotation.role != "sample" or annotation.mode != "r" or annotation.shape:
        raise frame.error(node, f"{annotation.text} converts nothing", fix="Scalar, Int32, UInt32, Index and Bool do")
    if len(values) != 1:
        raise frame.error(node, f"{annotation.text}(x) converts one value")
    return convert_elements(frame, node, values[0], annotation.type or frame.scalar)


_HINT = "Functions of math, numpy and hawk.math can be called, your own functions, and kernels"
_HINTS = {
    "print": "Write the value to a Mutable plane and look at it after the launch",
    "enumerate": "Write for i in range(len(v)), and v[i]",
    "zip": "Write for i in range(len(v)), and index both",
    "list": "Write a vector as [a, b, c]",
    "tuple": "Write (a, b, c)",
    "sorted": "Compare with if",
}
