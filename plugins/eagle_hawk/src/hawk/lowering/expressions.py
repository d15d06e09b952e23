"""Expressions of the language."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from eagle_ir import Block, Type
from hawk.lowering.arithmetic import COMPARISONS, OPERATORS, binary, compare, negate, require_element
from hawk.lowering.branches import choose, expression_path
from hawk.lowering.constants import constant
from hawk.lowering.emitter import is_cheap
from hawk.lowering.frame import Frame
from hawk.lowering.scope import Undefined
from hawk.lowering.values import Element, Group, Items, Known, Number, Static, Unset, Val, kind_name
from hawk.lowering.vectors import build, elementwise, fused, product

__all__ = ["binary_values", "evaluate", "number"]


def evaluate(frame: Frame, node: ast.expr) -> Val:
    """Return what an expression stands for, emitting what it computes."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        name, fix = _REFUSED.get(type(node), (f"{type(node).__name__}", ""))
        raise frame.error(node, f"{name} is not part of the kernel language", fix=fix)
    return handler(frame, node)


def number(frame: Frame, node: ast.expr) -> Element:
    """Return an expression that has to be one number."""
    return require_element(frame, node, evaluate(frame, node))


def binary_values(frame: Frame, node: ast.AST, operator: ast.operator, left: Val, right: Val) -> Val:
    """An operator between numbers or vectors."""
    if isinstance(operator, ast.MatMult):
        return product(frame, node, left, right)
    op = OPERATORS[type(operator)]
    return elementwise(frame, node, (left, right), lambda pair: binary(frame, node, op, pair[0], pair[1]))


def _constant(frame: Frame, node: ast.Constant) -> Val:
    if isinstance(node.value, bool | int | float):
        return constant(frame, node, node.value)
    if isinstance(node.value, str):
        return Static(node.value)
    what = "complex numbers are" if isinstance(node.value, complex) else f"{node.value!r} is"
    raise frame.error(node, f"{what} not part of the kernel language")


def _name(frame: Frame, node: ast.Name) -> Val:
    if node.id in frame.variables:
        value = frame.variables[node.id]
        if isinstance(value, Unset):
            raise frame.error(
                node, f"{node.id!r} may be unassigned here", fix="Give it a value before the if or the loop"
            )
        return value
    if frame.scope.is_own(node.id):
        raise frame.error(node, f"{node.id!r} is unassigned here", fix="Give it a value first")
    try:
        return constant(frame, node, frame.scope.name(node.id))
    except Undefined:
        raise frame.error(node, f"the name {node.id!r} is not defined") from None


def _attribute(frame: Frame, node: ast.Attribute) -> Val:
    owner = evaluate(frame, node.value)
    if isinstance(owner, Static):
        try:
            return constant(frame, node, frame.scope.attribute(ast.unparse(node), owner.thing, node.attr))
        except Undefined:
            raise frame.error(node, f"{kind_name(owner)} has no attribute {node.attr!r}") from None
    if isinstance(owner, Group) and node.attr == "T":
        return _transposed(owner)
    raise frame.error(node, f"{kind_name(owner)} has no attribute {node.attr!r}", fix="Elements are indexed: v[0]")


def _transposed(group: Group) -> Group:
    if len(group.shape) == 1:
        return group
    rows, columns = group.shape
    items = tuple(group.items[i * columns + j] for j in range(columns) for i in range(rows))
    return Group((columns, rows), items)


def _binary(frame: Frame, node: ast.BinOp) -> Val:
    """A chain of operators, from its innermost left end outwards.

    With fma, ``a*b + c`` is fused: the left product if there is one, else the right one.
    """
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = evaluate(frame, chain[-1].left)
    factors: tuple[Val, Val] | None = None
    for position in range(len(chain) - 1, -1, -1):
        one = chain[position]
        fuses = frame.shared.fma and isinstance(one.op, ast.Add | ast.Sub)
        right = _factors(one.right) if fuses else None
        if factors is not None:
            signs = (False, isinstance(one.op, ast.Sub))
            value = fused(frame, one, factors, evaluate(frame, one.right), signs)
            factors = None
        elif right is not None:
            pair = (evaluate(frame, right[0]), evaluate(frame, right[1]))
            value = fused(frame, one, pair, value, (isinstance(one.op, ast.Sub), False))
        elif position and _factors(one) and frame.shared.fma and isinstance(chain[position - 1].op, ast.Add | ast.Sub):
            factors = (value, evaluate(frame, one.right))
        else:
            value = binary_values(frame, one, one.op, value, evaluate(frame, one.right))
    return value


def _factors(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return node.left, node.right
    return None


def _unary(frame: Frame, node: ast.UnaryOp) -> Val:
    if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and type(node.operand.value) is float:
        return constant(frame, node, -node.operand.value)
    value = evaluate(frame, node.operand)
    if isinstance(node.op, ast.Not):
        return _not(frame, node, value)
    if isinstance(node.op, ast.Invert):
        return elementwise(frame, node, (value,), lambda one: _invert(frame, node, one[0]))
    if isinstance(node.op, ast.USub):
        return elementwise(frame, node, (value,), lambda one: negate(frame, node, one[0]))
    return elementwise(frame, node, (value,), lambda one: _plus(frame, node, one[0]))


def _plus(frame: Frame, node: ast.AST, value: Element) -> Element:
    if isinstance(value, Known):
        return Known(int(value.number))
    return frame.typed(node, value, Type.I32) if value.type is Type.BOOL else value


def _invert(frame: Frame, node: ast.AST, value: Element) -> Element:
    if isinstance(value, Known) and not value.is_bool:
        return Known(~value.number)
    if isinstance(value, Known) or not value.type.is_integer:
        raise frame.error(node, f"~ takes whole numbers, not {kind_name(value)}", fix="A truth value takes not")
    return frame.compute("not", value)


def _not(frame: Frame, node: ast.AST, value: Val) -> Val:
    known = frame.condition(node, value)
    return Known(not known) if isinstance(known, bool) else frame.compute("not", Number(known))


def _bool(frame: Frame, node: ast.BoolOp) -> Val:
    return _short_circuit(frame, node, isinstance(node.op, ast.And), list(node.values))


def _short_circuit(frame: Frame, node: ast.BoolOp, is_and: bool, rest: list[ast.expr]) -> Val:
    """``a and b``, ``a or b`` as truth values: the right side is computed only where the left does not decide."""
    first = frame.condition(rest[0], evaluate(frame, rest[0]))
    if len(rest) == 1:
        return Known(first) if isinstance(first, bool) else Number(first)
    if isinstance(first, bool):
        return Known(first) if first is not is_and else _short_circuit(frame, node, is_and, rest[1:])
    return decided(frame, node, is_and, Number(first), lambda: _short_circuit(frame, node, is_and, rest[1:]))


def decided(frame: Frame, node: ast.AST, is_and: bool, first: Number, rest: Callable[[], Val]) -> Val:
    """``first and rest()`` or ``first or rest()``, of truth values; what may fault is computed only where needed."""
    found: list[Val] = []
    side = expression_path(frame, node, lambda: found.append(rest()))
    (second,) = found
    if isinstance(second, Number) and is_cheap(side.instructions):
        frame.emitter.splice(side.instructions)
        return frame.compute("and" if is_and else "or", first, second)
    if isinstance(second, Known):
        return first if second.number is is_and else second
    assert isinstance(second, Number)
    with frame.emitter.inside([]) as instructions:
        other = frame.const(not is_and, Type.BOOL).value
    sides = (Block(tuple(side.instructions), (second.value,)), Block(tuple(instructions), (other,)))
    return Number(frame.emitter.add_if(first.value, *(sides if is_and else sides[::-1]))[0])


def _compare(frame: Frame, node: ast.Compare) -> Val:
    for op, right in zip(node.ops, node.comparators, strict=True):
        if type(op) not in COMPARISONS:
            raise frame.error(
                right, "is, is not, in and not in are not part of the kernel language", fix="Write == or !="
            )
    return _chain(frame, node, number(frame, node.left), 0)


def _chain(frame: Frame, node: ast.Compare, left: Element, position: int) -> Val:
    right = number(frame, node.comparators[position])
    result = compare(frame, node, COMPARISONS[type(node.ops[position])], left, right)
    if position == len(node.ops) - 1:
        return result
    if isinstance(result, Known):
        return _chain(frame, node, right, position + 1) if result.number else result
    return decided(frame, node, True, result, lambda: _chain(frame, node, right, position + 1))


def _conditional(frame: Frame, node: ast.IfExp) -> Val:
    condition = frame.condition(node.test, evaluate(frame, node.test))
    if isinstance(condition, bool):
        return evaluate(frame, node.body if condition else node.orelse)
    return choose(frame, node, condition, lambda: evaluate(frame, node.body), lambda: evaluate(frame, node.orelse))


def _tuple(frame: Frame, node: ast.Tuple) -> Val:
    for one in node.elts:
        if isinstance(one, ast.Starred):
            raise frame.error(one, "unpacking with * is not part of the kernel language")
    return Items(tuple(evaluate(frame, one) for one in node.elts))


def _list(frame: Frame, node: ast.List) -> Val:
    return build(frame, node, [evaluate(frame, one) for one in node.elts])


def _call(frame: Frame, node: ast.Call) -> Val:
    from hawk.lowering.calls import call

    return call(frame, node)


def _subscript(frame: Frame, node: ast.Subscript) -> Val:
    from hawk.lowering.indexing import element

    return element(frame, node, evaluate(frame, node.value))


_HANDLERS: dict[type[ast.expr], Callable[[Frame, Any], Val]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Call: _call,
    ast.Subscript: _subscript,
}

_REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "Define the helper with def"),
    ast.NamedExpr: ("an assignment inside an expression", "Assign on a line of its own"),
    ast.ListComp: ("a comprehension", "Write the elements out, or loop over range(...)"),
    ast.GeneratorExp: ("a generator", "Loop over range(...)"),
    ast.SetComp: ("a comprehension", "Loop over range(...)"),
    ast.DictComp: ("a comprehension", "Loop over range(...)"),
    ast.Dict: ("a dict", "Use variables, or a Table"),
    ast.Set: ("a set", "Use variables, or a Table"),
    ast.JoinedStr: ("a string", ""),
    ast.Await: ("await", ""),
    ast.Yield: ("yield", "Return the value"),
    ast.YieldFrom: ("yield", "Return the value"),
    ast.Starred: ("unpacking with *", "Write the arguments out"),
    ast.Slice: ("a slice here", ""),
}
