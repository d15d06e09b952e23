"""Which names statements assign, and how they leave, by looking at the source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

__all__ = ["assigned_names", "leaves"]


def assigned_names(nodes: Sequence[ast.AST]) -> list[str]:
    """Return the names that statements assign, in order."""
    found: dict[str, None] = {}
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
            elif (
                isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
            ):
                found[node.value.id] = None
    return list(found)


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
