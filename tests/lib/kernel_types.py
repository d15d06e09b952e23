"""The types of a function's variables where paths meet, found by running every path once on ones.

Two paths that leave a variable in two types leave it in the type both have together, so that a value's type does not
depend on which path a sample took. A whole number that is a literal on both stays one only where it is the same.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from kernel_calls import Vector
from kernel_frame import Frame, Leave, Table

if TYPE_CHECKING:
    from kernel_oracle import Declared, Oracle


def one_like(value: Any) -> Any:
    """A number of the same type; a literal stays what it is."""
    if isinstance(value, tuple):
        return tuple(map(one_like, value))
    if isinstance(value, Vector):
        return Vector(value.shape, [one_like(item) for item in value.items])
    return type(value)(1) if isinstance(value, np.generic) else value


def signature(value: Any) -> object:
    """What of an argument decides the types inside a function."""
    if isinstance(value, tuple):
        return tuple(map(signature, value))
    if isinstance(value, Vector):
        return value.shape, signature(value.items[0])
    return value.array.dtype if isinstance(value, Table) else type(value) if isinstance(value, np.generic) else value


class Types(Frame):
    """Runs every path of one function, once or until nothing changes.

    Attributes
    ----------
    joins : dict
        By statement, the variables it may change, each as a number of the type it has after it.
    result : object
        What the function returns, likewise.
    """

    def __init__(self, oracle: Oracle, names: Mapping[str, Any], declared: Mapping[str, Declared]) -> None:
        super().__init__(oracle, {name: one_like(value) for name, value in names.items()}, declared)
        self.result: Any = None
        self.leaving: list[dict[str, Any]] = []

    def function(self, node: ast.FunctionDef) -> Any:
        before, self.numbers.lenient = self.numbers.lenient, True
        try:
            self.block(node.body)
        except Leave:
            pass
        finally:
            self.numbers.lenient = before
        return self.result

    def do_If(self, node: ast.If) -> None:  # noqa: N802 - named for the node
        self.value(node.test)
        before, ends = self.names, []
        left = Leave("return")
        for part in (node.body, node.orelse):
            self.names = dict(before)
            try:
                self.block(part)
                ends.append(self.names)
            except Leave as leave:
                left = leave
        if not ends:
            raise left
        self.names = self.joined(ends)
        self.joins[node] = {name: value for name, value in self.names.items() if value is not before.get(name)}

    def do_While(self, node: ast.While) -> None:  # noqa: N802
        self.loop(node, lambda: self.value(node.test))

    def do_For(self, node: ast.For) -> None:  # noqa: N802
        assert isinstance(node.iter, ast.Call)
        for argument in node.iter.args:
            self.value(argument)
        self.loop(node, lambda: self.assign(node.target, np.int64(1)))

    def loop(self, node: ast.While | ast.For, begin: Any) -> None:
        assigned = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        start = {name: self.carried(value) if name in assigned else value for name, value in self.names.items()}
        outer = self.leaving
        before: dict[str, Any] = {}
        while signature(tuple(start.values())) != signature(tuple(before.values())):
            self.names, self.leaving, before = dict(start), [], start
            begin()
            try:
                self.block(node.body)
                self.leaving.append(self.names)
            except Leave:
                pass
            start = self.joined([start, *({**start, **end} for end in self.leaving)])
        self.leaving = outer
        self.joins[node] = {name: value for name, value in start.items() if name in assigned}
        self.names = {**self.names, **start}

    def do_Break(self, node: ast.Break) -> None:  # noqa: N802
        self.leaving.append(self.names)
        raise Leave("break")

    def do_Continue(self, node: ast.Continue) -> None:  # noqa: N802
        self.leaving.append(self.names)
        raise Leave("continue")

    def do_Return(self, node: ast.Return) -> None:  # noqa: N802
        value = None if node.value is None else one_like(self.value(node.value))
        self.result = value if self.result is None else self.calls.unified(self.result, value)
        raise Leave("return")

    def of_BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        for value in node.values:
            self.value(value)
        return np.bool_(True)

    def carried(self, value: Any) -> Any:
        """What a loop can change is no literal."""
        if isinstance(value, tuple):
            return tuple(map(self.carried, value))
        return np.bool_(value) if isinstance(value, bool) else np.int64(1) if isinstance(value, int) else value

    def joined(self, ends: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The variables that every path has, in the types they have together."""
        first, *others = ends
        found = {name: value for name, value in first.items() if all(name in end for end in others)}
        for end in others:
            for name, value in found.items():
                if value is not end[name] and not isinstance(value, Table):
                    found[name] = one_like(self.calls.unified(value, end[name]))
        return found
