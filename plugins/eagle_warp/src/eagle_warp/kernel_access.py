"""What a Warp kernel does with its arrays, read off its syntax tree: what is not seen to be read only may be written.

Warp keeps no reliable record of it. `Var.is_write` is filled in only with ``verify_autograd_array_access``, which is
part of what a module is compiled by, and misses stores of tiles; `Var.is_read` leaves out ``x[i] = x[i] + 1``.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getclosurevars
from typing import Any

__all__ = ["Use", "uses_of"]

_ATTRIBUTES = frozenset({"shape", "ndim", "size", "strides", "dtype"})
"""What may be asked of an array without touching its elements."""

_READING = frozenset({"tile_load", "tile_load_indexed", "lower_bound", "len", "load"})
_WRITING = frozenset({"tile_store", "tile_store_indexed", "store"})
"""Warp's functions that take a whole array and do but one thing with it. Any other may do both."""


@dataclass
class Use:
    """What is done with one array argument."""

    reads: bool = False
    writes: bool = False

    def add(self, other: Use) -> None:
        """Take in what is done with it elsewhere."""
        self.reads, self.writes = self.reads or other.reads, self.writes or other.writes


@dataclass(frozen=True)
class _Builtin:
    """A function of Warp's own."""

    name: str


_BOTH = Use(reads=True, writes=True)


def uses_of(adjoint: Any, known: Mapping[str, Any] | None = None, calling: tuple[object, ...] = ()) -> dict[str, Use]:
    """Return what a kernel or function does with each of its array arguments.

    Parameters
    ----------
    adjoint : warp.codegen.Adjoint
        Of a kernel or of a function, which holds its syntax tree and its arguments.
    known : mapping of str to object, optional
        The names it can see, instead of those of its globals and closure.
    calling : tuple
        The functions being read.
    """
    import warp

    arrays = {one.label: int(getattr(one.type, "ndim", 0)) for one in adjoint.args if warp.types.is_array(one.type)}
    reader = _Reader(arrays, _names(adjoint.func) if known is None else known, (*calling, adjoint))
    for statement in adjoint.tree.body[0].body:
        reader.visit(statement)
    return reader.uses


class _Reader(ast.NodeVisitor):
    def __init__(self, arrays: Mapping[str, int], names: Mapping[str, Any], calling: tuple[object, ...]) -> None:
        self._arrays, self._names, self._calling = arrays, names, calling
        self.uses = {name: Use() for name in arrays}

    # An array by itself: bound to another name, handed on, rebound. Then it can be written under that name.

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.uses:
            self.uses[node.id].add(_BOTH)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.uses and node.attr in _ATTRIBUTES:
            return
        self._element(node) or self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._element(node) or self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if (name := _root(node.target)) in self.uses:
            self.uses[name].reads = True
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = _resolved(node.func, self._names)
        for position, argument in [*enumerate(node.args), *((one.arg, one.value) for one in node.keywords)]:
            if isinstance(argument, ast.Name) and argument.id in self.uses:
                self.uses[argument.id].add(_use_in(function, position, self._calling))
                continue
            name = _root(argument)
            if name in self.uses and _may_take_reference(function):
                self.uses[name].add(_BOTH)
            self.visit(argument)

    def _element(self, node: ast.Subscript | ast.Attribute) -> bool:
        """Take in what is done with part of an array; say whether `node` is one."""
        name = _root(node)
        if name not in self.uses:
            return False
        indices = _indices(node)
        if isinstance(node.ctx, ast.Store):
            self.uses[name].writes = True
        elif len(indices) >= max(self._arrays[name], 1) and not any(isinstance(one, ast.Slice) for one in indices):
            self.uses[name].reads = True
        else:
            self.uses[name].add(_BOTH)  # a view, which can be written under another name
        for index in indices:
            self.visit(index)
        return True


def _root(node: ast.expr) -> str:
    """Return the name that an element, or a component of one, is taken from; the empty string for anything else."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
        if isinstance(node, ast.Name):
            return node.id
    return ""


def _indices(node: ast.expr) -> list[ast.expr]:
    found: list[ast.expr] = []
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        if isinstance(node, ast.Subscript):
            found[:0] = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        node = node.value
    return found


def _use_in(function: Any, position: int | str | None, calling: tuple[object, ...]) -> Use:
    """Return what a function that is called does with an argument."""
    import warp

    if function is len:
        return Use()
    if isinstance(function, _Builtin):
        return Use(reads=function.name not in _WRITING, writes=function.name not in _READING)
    if not isinstance(function, warp.Function) or position is None:
        return _BOTH
    use = Use()
    for one in _overloads(function):
        if one.native_snippet is not None or one.adj in calling:
            return _BOTH
        labels = [argument.label for argument in one.adj.args]
        name = position if isinstance(position, str) else labels[position] if position < len(labels) else ""
        use.add(uses_of(one.adj, calling=calling).get(name, _BOTH))
    return use


def _may_take_reference(function: Any) -> bool:
    """Whether a function of the user's may write an element it is given, through an argument by reference."""
    import warp

    if isinstance(function, _Builtin):
        return False
    if not isinstance(function, warp.Function):
        return not callable(function)
    trees = [one.adj.tree.body[0] for one in _overloads(function)]
    notes = [argument.annotation for tree in trees for argument in tree.args.args]
    return any(note is not None and "ref" in ast.unparse(note) for note in notes)


def _overloads(function: Any) -> list[Any]:
    found = [function, *function.user_overloads.values(), *function.user_templates.values()]
    return list({id(one): one for one in found}.values())


def _resolved(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return what a name, or names with dots between, stand for; None where that is not known."""
    import warp

    if not isinstance(node, ast.Attribute):
        return names.get(node.id) if isinstance(node, ast.Name) else None
    found = _resolved(node.value, names)
    value = getattr(found, node.attr, None)
    if found is warp and not (isinstance(value, warp.Function) and not value.is_builtin()):
        return _Builtin(node.attr)  # of which not all exist outside kernels
    return value


def _names(function: Any) -> dict[str, Any]:
    closure = getclosurevars(function)
    return {**vars(builtins), **function.__globals__, **closure.nonlocals}
