"""Assignment: to names, tuples of names, and elements of vectors."""

from __future__ import annotations

import ast

from eagle_ir import Type
from hawk.annotations import Annotation
from hawk.lowering.expressions import binary_values, evaluate
from hawk.lowering.frame import Frame
from hawk.lowering.values import Element, Group, Items, Known, Number, Val, kind_name
from hawk.lowering.vectors import convert_elements, elementwise

__all__ = ["assign", "augment", "fit"]


def assign(frame: Frame, target: ast.expr, value: Val) -> None:
    """Assign a value to what stands left of an equals sign."""
    if isinstance(target, ast.Name):
        _assign_name(frame, target, target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(frame, target, value)
    elif isinstance(target, ast.Subscript):
        from hawk.lowering.indexing import replaced

        if not isinstance(target.value, ast.Name):
            raise frame.error(target, "only an element of a named vector can be assigned", fix="Write M[i, j] = ...")
        if target.value.id in frame.parameters:
            raise frame.error(
                target,
                f"{target.value.id} is this function's copy: the caller would not see the change",
                fix="Return it",
            )
        group = evaluate(frame, target.value)
        _assign_name(frame, target, target.value.id, replaced(frame, target, group, value))
    elif isinstance(target, ast.Starred):
        raise frame.error(target, "unpacking with * is not part of the kernel language", fix="Name every element")
    else:
        raise frame.error(target, "this cannot be assigned", fix="Assign to a variable, v[i] or M[i, j]")


def augment(frame: Frame, node: ast.AugAssign) -> None:
    """``x += ...`` and its like."""
    read = _as_read(node.target)
    if frame.shared.fma and isinstance(node.op, ast.Add | ast.Sub):
        whole = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        assign(frame, node.target, evaluate(frame, whole))
        return
    left = evaluate(frame, read)
    assign(frame, node.target, binary_values(frame, node, node.op, left, evaluate(frame, node.value)))


def _as_read(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    return target


def _assign_name(frame: Frame, node: ast.AST, name: str, value: Val) -> None:
    annotation = frame.declared.get(name)
    if annotation is not None:
        if annotation.mode != "rw":
            raise frame.error(
                node,
                f"{name!r} is read only",
                fix=f"Annotate it Mutable[{annotation.text}] to write it in place, or use another name"
                if annotation.role == "sample"
                else "Use another name for the new value",
            )
        value = fit(frame, node, name, value, annotation)
    frame.variables[name] = value


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Val) -> None:
    if isinstance(value, Items):
        parts: list[Val] = list(value.items)
    elif isinstance(value, Group):
        width = len(value.items) // value.shape[0]
        rows = [value.items[k * width : (k + 1) * width] for k in range(value.shape[0])]
        parts = [one[0] if len(value.shape) == 1 else Group(value.shape[1:], one) for one in rows]
    else:
        raise frame.error(target, f"{kind_name(value)} cannot be unpacked")
    for one in target.elts:
        if isinstance(one, ast.Starred):
            raise frame.error(one, "unpacking with * is not part of the kernel language", fix="Name every element")
    if len(parts) != len(target.elts):
        raise frame.error(target, f"{len(target.elts)} names for {len(parts)} values")
    for one, part in zip(target.elts, parts, strict=True):
        assign(frame, one, part)


def fit(frame: Frame, node: ast.AST, name: str, value: Val, annotation: Annotation) -> Val:
    """Return a value as an argument holds it: whole numbers wrap to its type, floats do not become whole silently."""
    type_, shape = annotation.element(frame.scalar), annotation.shape
    if isinstance(value, Known | Number) and shape:
        count = 1
        for size in shape:
            count *= size
        one = _element(frame, node, name, value, type_)
        return Group(shape, (one,) * count)
    if (value.shape if isinstance(value, Group) else ()) != shape or not isinstance(value, Group | Known | Number):
        raise frame.error(node, f"{name!r} is {annotation.text} and cannot hold {kind_name(value)}")
    for item in value.items if isinstance(value, Group) else [value]:
        _element(frame, node, name, item, type_, check_only=True)
    if isinstance(value, Group):
        return elementwise(frame, node, (value,), lambda one: frame.typed(node, one[0], type_))
    return convert_elements(frame, node, value, type_)


def _element(
    frame: Frame, node: ast.AST, name: str, value: Element, type_: Type, *, check_only: bool = False
) -> Number:
    found = (Type.BOOL if value.is_bool else Type.I64) if isinstance(value, Known) else value.type
    if type_ is Type.BOOL and found is not Type.BOOL:
        raise frame.error(node, f"{name!r} is Bool and cannot hold {kind_name(value)}", fix="Compare it: x != 0")
    if type_.is_integer and found.is_float:
        raise frame.error(node, f"{name!r} is {kind_name(type_)} and cannot hold a Scalar", fix="Convert it: int(x)")
    if check_only:
        return value  # type: ignore[return-value]
    return frame.typed(node, value, type_)
