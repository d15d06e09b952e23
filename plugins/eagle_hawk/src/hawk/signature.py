"""The arguments of a kernel, from its annotations."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from types import FunctionType
from typing import get_args, get_origin

from hawk.annotations import Annotation, Matrix, Mutable, Table, Vector
from hawk.source import Source

__all__ = ["annotations_of", "returned"]


def annotations_of(function: FunctionType, source: Source, names: Mapping[str, object]) -> dict[str, Annotation]:
    """Return the annotation of every argument, in order.

    Parameters
    ----------
    function : FunctionType
    source : Source
    names : mapping of str to object
        The variables where the function is defined, for annotations that are kept as text.

    Raises
    ------
    KernelError
        An argument has none, or one that is not hawk's; the function has defaults, ``*args``, other decorators.
    """
    node = source.node
    _refuse(source)
    around = {**vars(builtins), **function.__globals__, **names, **_closure(function)}
    found = {}
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        found[argument.arg] = _annotation(source, argument, function, around)
    masks = [name for name, one in found.items() if one.role == "mask"]
    if len(masks) > 1:
        raise source.error(
            node, f"two masks: {masks[0]!r} and {masks[1]!r}", fix="A kernel has one Terminated argument"
        )
    return found


def _refuse(source: Source) -> None:
    node = source.node
    if len(node.decorator_list) > 1:
        raise source.error(
            node.decorator_list[1 if _is_kernel(node.decorator_list[0]) else 0],
            "another decorator beside @hawk.kernel",
            why="the function is read from its source, so what the decorator does would be lost",
            fix="Leave it out",
        )
    for one, stars in ((node.args.vararg, "*"), (node.args.kwarg, "**")):
        if one is not None:
            raise source.error(one, f"{stars}{one.arg} cannot be an argument of a kernel", fix="Name every argument")
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            raise source.error(
                default,
                "a kernel's argument has no default",
                fix="Pass the value by name when binding, or use a constant",
            )


def _is_kernel(node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(node).rpartition(".")[2] == "kernel"


def _closure(function: FunctionType) -> dict[str, object]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _annotation(source: Source, argument: ast.arg, function: FunctionType, around: dict[str, object]) -> Annotation:
    if argument.annotation is None:
        raise source.error(
            argument,
            f"the argument {argument.arg!r} has no annotation",
            fix=f"Say what it is: {argument.arg}: Scalar, {argument.arg}: Param, {argument.arg}: Mutable[Scalar]",
        )
    found = _read(source, argument.annotation, function, argument.arg, around)
    if isinstance(found, Annotation):
        return found
    raise source.error(
        argument.annotation, f"{ast.unparse(argument.annotation)} is no annotation of hawk", fix=_fix(found)
    )


def _read(source: Source, node: ast.expr, function: FunctionType, name: str, around: dict[str, object]) -> object:
    try:
        found = function.__annotations__[name]
        return eval(found, around) if isinstance(found, str) else found
    except Exception as error:
        raise source.error(node, f"this annotation cannot be read: {type(error).__name__}: {error}") from None


def returned(function: FunctionType, source: Source, names: Mapping[str, object]) -> tuple[Annotation, ...]:
    """Return the annotations of what is returned; empty where there are none, or none of hawk's.

    Parameters
    ----------
    function, source, names
        As for `annotations_of`.
    """
    node = source.node.returns
    if node is None:
        return ()
    around = {**vars(builtins), **function.__globals__, **names, **_closure(function)}
    found = _read(source, node, function, "return", around)
    parts = get_args(found) if get_origin(found) is tuple else (found,)
    wanted = tuple(one for one in parts if isinstance(one, Annotation))
    if any(one.role != "sample" or one.mode != "r" for one in wanted):
        raise source.error(node, "this cannot be returned", fix="Write -> Scalar, Vector[3], or a tuple of such")
    return wanted if len(wanted) == len(parts) else ()


def _fix(found: object) -> str:
    if found is float:
        return "Write Scalar for a value per sample, Param for one number for all"
    if found is int:
        return "Write Int32 or Index for a value per sample, Param[Int32] for one number for all"
    if found is bool:
        return "Write Bool for a value per sample, Param[Bool] for one for all"
    examples = {
        id(Vector): "Vector[3]",
        id(Matrix): "Matrix[3, 3]",
        id(Table): "Table[Scalar]",
        id(Mutable): "Mutable[Scalar]",
    }
    if id(found) in examples:
        return f"Say of what: {examples[id(found)]}"
    return "Write Scalar, Vector[3], Mutable[Scalar], Param, Table[Scalar], Terminated or the like"
