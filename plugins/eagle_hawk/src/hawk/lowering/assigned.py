"""Which names statements assign, and how they leave, by looking at the source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hawk.lowering.frame import Frame
from hawk.lowering.scope import Undefined

__all__ = ["assigned_names", "leaves"]


def assigned_names(frame: Frame, nodes: Sequence[ast.AST]) -> list[str]:
    """Return the names that statements may assign, in order, those a kernel called writes included."""
    found: dict[str, None] = {}
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name):
                    found[node.value.id] = None
            elif isinstance(node, ast.Call) and _is_kernel(frame, node.func):
                given = [*node.args, *(one.value for one in node.keywords)]
                found |= dict.fromkeys(
                    one.id for one in given if isinstance(one, ast.Name) and one.id in frame.variables
                )
    return [name for name in found if not _is_read_only(frame, name)]


def _is_kernel(frame: Frame, node: ast.expr) -> bool:
    from hawk.kernel import KernelFunction

    try:
        if isinstance(node, ast.Name):
            return isinstance(frame.scope.name(node.id), KernelFunction)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = frame.scope.name(node.value.id)
            return isinstance(frame.scope.attribute(ast.unparse(node), owner, node.attr), KernelFunction)
    except Undefined:
        pass
    return False


def _is_read_only(frame: Frame, name: str) -> bool:
    return name in frame.declared and frame.declared[name].mode != "rw"


def leaves(statements: Sequence[ast.stmt]) -> set[type[ast.stmt]]:
    """Return how statements of a loop's body leave it: return anywhere, break and continue of this loop."""
    return {type(node) for node in _walk(statements, False)}


def _walk(statements: Sequence[ast.stmt], nested: bool) -> Iterator[ast.stmt]:
    for node in statements:
        if isinstance(node, ast.Return) or (isinstance(node, ast.Break | ast.Continue) and not nested):
            yield node
        inner = nested or isinstance(node, ast.For | ast.While)
        for block in ("body", "orelse"):
            yield from _walk(getattr(node, block, []), inner)
