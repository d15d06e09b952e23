"""Elements of vectors, matrices and tables."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from eagle_ir import Type
from hawk.lowering.arithmetic import promote
from hawk.lowering.expressions import evaluate
from hawk.lowering.frame import Frame
from hawk.lowering.values import Group, Items, Known, Number, TableRef, Val, kind_name

__all__ = ["element", "replaced"]


def element(frame: Frame, node: ast.Subscript, owner: Val) -> Val:
    """``v[i]``, ``M[i, j]``, ``v[0:2]``, ``T[i, j]``, an element of a tuple."""
    if isinstance(owner, TableRef):
        return _gather(frame, node, owner)
    if isinstance(owner, Items):
        return _item(frame, node, owner)
    if not isinstance(owner, Group):
        raise frame.error(node, f"{kind_name(owner)} cannot be indexed")
    indices = _indices(frame, node, owner)
    if not any(isinstance(one, Number) for one in indices):
        return _picked(owner, _positions(frame, node, owner, indices))
    shapes = [(_positions(frame, node, owner, chosen), tests) for chosen, tests in _choices(frame, node, indices)]
    result = _picked(owner, shapes[-1][0])
    for positions, tests in reversed(shapes[:-1]):
        result = _select(frame, tests, _picked(owner, positions), result)
    return result


def replaced(frame: Frame, node: ast.Subscript, owner: Val, value: Val) -> Group:
    """Return a vector with the indexed elements replaced."""
    if not isinstance(owner, Group):
        fix = "A table is read only: write to a Mutable plane" if isinstance(owner, TableRef) else ""
        raise frame.error(node, f"the elements of {kind_name(owner)} cannot be assigned", fix=fix)
    indices = _indices(frame, node, owner)
    ways = list(_choices(frame, node, indices))
    first = _positions(frame, node, owner, ways[0][0])
    values = _spread(frame, node, value, first.shape)
    numbers = promote(frame, node, [*owner.items, *values])
    items, news = numbers[: len(owner.items)], numbers[len(owner.items) :]
    for chosen, tests in ways:
        positions = _positions(frame, node, owner, chosen).ravel()
        for position, new in zip(positions, news, strict=True):
            items[position] = new if not tests else _pick(frame, tests, new, items[position])
    return Group(owner.shape, tuple(items))


def _spread(frame: Frame, node: ast.AST, value: Val, shape: tuple[int, ...]) -> list[Any]:
    count = int(np.prod(shape, dtype=int))
    if isinstance(value, Known | Number):
        return [value] * count
    if isinstance(value, Items):
        from hawk.lowering.vectors import build

        value = build(frame, node, value.items)
    if isinstance(value, Group) and value.shape == shape:
        return list(value.items)
    raise frame.error(node, f"{kind_name(value)} does not fit here")


def _indices(frame: Frame, node: ast.Subscript, owner: Group) -> list[Any]:
    """Return one index per axis given: an int, a slice, or a number with known bounds."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > len(owner.shape):
        raise frame.error(node, f"{len(parts)} indices for {kind_name(owner)}")
    return [_index(frame, part, size) for part, size in zip(parts, owner.shape, strict=False)]


def _index(frame: Frame, node: ast.expr, size: int) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(_bound(frame, one) for one in (node.lower, node.upper, node.step)))
    value = evaluate(frame, node)
    if isinstance(value, Known) and not value.is_bool:
        if not -size <= value.number < size:
            raise frame.error(node, f"the index {value.number} is outside 0..{size - 1}")
        return value.number % size
    if not isinstance(value, Number) or not value.type.is_integer:
        raise frame.error(node, f"an index is a whole number, not {kind_name(value)}", fix="Convert it: int(x)")
    if value.bounds is None or value.bounds[0] < 0 or value.bounds[1] >= size:
        raise frame.error(
            node,
            f"this index is not known to be within 0..{size - 1}",
            fix=f"Use a constant, the variable of a loop over range({size}), or i % {size}; a Table takes any index",
        )
    return value


def _bound(frame: Frame, node: ast.expr | None) -> int | None:
    if node is None:
        return None
    value = evaluate(frame, node)
    if isinstance(value, Known) and not value.is_bool:
        return value.number
    raise frame.error(node, "the ends of a slice are constants", fix="Loop over the elements instead")


def _choices(frame: Frame, node: ast.AST, indices: Sequence[Any]) -> list[tuple[tuple[Any, ...], list[Number]]]:
    """Return every constant index the given ones may stand for, with the tests that say so."""
    options: list[list[tuple[Any, Number | None]]] = []
    for index in indices:
        if isinstance(index, Number):
            assert index.bounds is not None
            low, high = index.bounds
            options.append([(k, frame.compute("eq", index, frame.const(k, index.type))) for k in range(low, high + 1)])
        else:
            options.append([(index, None)])
    return [
        (tuple(k for k, _ in way), [test for _, test in way if test is not None]) for way in itertools.product(*options)
    ]


def _positions(frame: Frame, node: ast.AST, owner: Group, indices: Sequence[Any]) -> np.ndarray[Any, Any]:
    grid = np.arange(len(owner.items)).reshape(owner.shape)
    found = np.asarray(grid[tuple(indices)])
    if not found.size:
        raise frame.error(node, "this slice is empty")
    return found


def _picked(owner: Group, positions: np.ndarray[Any, Any]) -> Number | Group:
    items = tuple(owner.items[position] for position in positions.ravel())
    return items[0] if positions.ndim == 0 else Group(positions.shape, items)


def _select(frame: Frame, tests: list[Number], one: Number | Group, other: Number | Group) -> Number | Group:
    if isinstance(one, Number) and isinstance(other, Number):
        return _pick(frame, tests, one, other)
    assert isinstance(one, Group)
    assert isinstance(other, Group)
    pairs = zip(one.items, other.items, strict=True)
    return Group(one.shape, tuple(_pick(frame, tests, a, b) for a, b in pairs))


def _pick(frame: Frame, tests: list[Number], one: Number, other: Number) -> Number:
    condition = tests[0]
    for test in tests[1:]:
        condition = frame.compute("and", condition, test)
    return frame.compute("select", condition, one, other)


def _item(frame: Frame, node: ast.Subscript, owner: Items) -> Val:
    value = evaluate(frame, node.slice)
    if not isinstance(value, Known) or value.is_bool:
        raise frame.error(node.slice, "a tuple is indexed by a constant", fix="Use a vector: [a, b, c]")
    if not -len(owner.items) <= value.number < len(owner.items):
        raise frame.error(node.slice, f"the index {value.number} is outside a tuple of {len(owner.items)}")
    return owner.items[value.number]


def _gather(frame: Frame, node: ast.Subscript, owner: TableRef) -> Val:
    """An element of a table, or a row whose axes have fixed lengths."""
    axes = owner.argument.shape
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    rest = axes[len(parts) :]
    if len(parts) > len(axes) or -1 in rest or len(rest) > 2:
        raise frame.error(
            node, f"{owner.argument.name} has {len(axes)} axes", fix=f"Index it by {len(axes)} whole numbers"
        )
    indices = [_table_index(frame, part, size) for part, size in zip(parts, axes, strict=False)]
    site = frame.source.site(node)
    found = []
    for inner in itertools.product(*map(range, rest)):
        places = [*indices, *(frame.const(k, Type.I64) for k in inner)]
        found.append(Number(frame.emitter.gather(owner.argument.name, [one.value for one in places], site)))
    return Group(rest, tuple(found)) if rest else found[0]


def _table_index(frame: Frame, node: ast.expr, size: int) -> Number:
    if isinstance(node, ast.Slice):
        raise frame.error(node, "a table is not sliced", fix="Index it by whole numbers")
    value = evaluate(frame, node)
    if isinstance(value, Known) and not value.is_bool:
        if value.number < 0 or (size >= 0 and value.number >= size):
            raise frame.error(node, f"the index {value.number} is outside the table: indices do not wrap")
        return frame.typed(node, value, Type.I64)
    if not isinstance(value, Number) or not value.type.is_integer:
        raise frame.error(node, f"an index is a whole number, not {kind_name(value)}", fix="Convert it: int(x)")
    return frame.typed(node, value, Type.I64)
