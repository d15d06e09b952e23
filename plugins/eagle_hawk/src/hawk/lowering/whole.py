"""A whole kernel: arguments are loaded, the body lowered, what was written is stored."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from math import prod
from types import FunctionType
from typing import TYPE_CHECKING

from eagle.plugin import Argument
from eagle_ir import Function, Type, verify
from hawk.annotations import Annotation
from hawk.errors import KernelError
from hawk.lowering.assignment import fit
from hawk.lowering.emitter import Emitter
from hawk.lowering.frame import Frame, Lowering
from hawk.lowering.inline import result
from hawk.lowering.prune import pruned
from hawk.lowering.scope import Scope
from hawk.lowering.statements import body
from hawk.lowering.values import Element, Group, Items, Known, Number, TableRef, Unset, Val, kind_name

if TYPE_CHECKING:
    from hawk.kernel import KernelFunction

__all__ = ["lower"]


def lower(kernel: KernelFunction, scalar: Type, frozen: dict[tuple[FunctionType, str], object]) -> Function:
    """Return a kernel's function in the IR, verified.

    Parameters
    ----------
    kernel : KernelFunction
    scalar : Type
        The plan's float type.
    frozen : dict
        Constants read before, and where those read now are kept.

    Raises
    ------
    KernelError
        The body is outside the language.
    """
    source = kernel.definition
    try:
        return _lowered(kernel, scalar, frozen)
    except KernelError:
        raise
    except RecursionError:
        raise source.error(source.node, "this is nested too deeply", fix="Split it into helper functions") from None
    except Exception as error:
        raise source.error(
            source.node,
            f"hawk could not lower {source.node.name}",
            why=repr(error),
            fix="This is a fault of hawk: report it",
        ) from error


def _lowered(kernel: KernelFunction, scalar: Type, frozen: dict[tuple[FunctionType, str], object]) -> Function:
    source, annotations = kernel.definition, kernel.annotations
    arguments = [annotation.argument(name, scalar) for name, annotation in annotations.items()]
    emitter = Emitter(source.node.name, arguments)
    shared = Lowering(emitter, scalar, kernel.fma, frozen, [kernel.function])
    frame = Frame(shared, source, Scope(kernel.function, frozen), declared=annotations)
    loaded = {one.name: _loaded(frame, one) for one in arguments}
    frame.variables = dict(loaded)
    body(frame, source.node.body)
    outputs = _outputs(frame, result(frame), kernel.returns)
    emitter.arguments = (*arguments, *outputs)
    _store(frame, loaded)
    finished = pruned(emitter.finish())
    verify(finished)
    return finished


def _loaded(frame: Frame, argument: Argument) -> Val:
    if argument.role == "table":
        return TableRef(argument)
    if argument.role == "param":
        return Number(frame.emitter.parameter(argument.name))
    if not argument.shape:
        return Number(frame.emitter.load(argument.name))
    count = prod(argument.shape)
    return Group(argument.shape, tuple(Number(frame.emitter.load(argument.name, k)) for k in range(count)))


def _outputs(frame: Frame, returned: Val, wanted: Sequence[Annotation]) -> list[Argument]:
    """Make the arguments of what is returned, and keep the values under their names."""
    if returned == Items(()):
        return []
    values = list(returned.items) if isinstance(returned, Items) else [returned]
    if wanted and len(wanted) != len(values):
        raise frame.error(frame.source.node, f"{len(values)} values are returned and {len(wanted)} annotated")
    names = _names(frame, len(values)) if isinstance(returned, Items) else ["out"]
    masked = any(one.role == "mask" for one in frame.declared.values())
    found = []
    for position, (name, value) in enumerate(zip(names, values, strict=True)):
        if name in frame.declared:
            raise frame.error(
                frame.source.node,
                f"the output {name!r} has the name of an argument",
                fix="Assign it to another variable and return that, or rename the argument",
            )
        if not isinstance(value, Known | Number | Group):
            raise frame.error(
                frame.source.node, f"{name!r} would be {kind_name(value)}", fix="Return numbers and vectors"
            )
        group = _as_number(frame, value)
        if wanted:
            annotation = wanted[position]
            fitted = fit(frame, frame.source.node.returns or frame.source.node, name, group, annotation)
            assert isinstance(fitted, Number | Group)
            group = fitted
        frame.variables[f"@out {name}"] = group
        shape = group.shape if isinstance(group, Group) else ()
        dtype = group.type.value
        found.append(Argument(name=name, role="sample", mode="w", dtype=dtype, shape=shape, total=not masked))
    return found


def _as_number(frame: Frame, value: Element | Group) -> Number | Group:
    if isinstance(value, Known):
        return frame.typed(frame.source.node, value, Type.BOOL if value.is_bool else Type.I64)
    return value


def _names(frame: Frame, count: int) -> list[str]:
    """Name the parts of a returned tuple after its variables, where every return gives the same."""
    found = set()
    for node in ast.walk(frame.source.node):
        if isinstance(node, ast.Return):
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else []
            found.add(tuple(one.id for one in parts if isinstance(one, ast.Name)))
    names = next(iter(found)) if len(found) == 1 else ()
    return list(names) if len(names) == len(set(names)) == count else [f"out{k}" for k in range(count)]


def _store(frame: Frame, loaded: Mapping[str, Val]) -> None:
    """Store every component that is not as it was loaded."""
    for argument in frame.emitter.arguments:
        if argument.mode == "r":
            continue
        before = loaded.get(argument.name)
        after = frame.variables[argument.name if before is not None else f"@out {argument.name}"]
        assert not isinstance(after, Unset)
        for component, value in enumerate(_items(after)):
            if before is None or _items(before)[component].value != value.value:
                frame.emitter.store(argument.name, value.value, component)
    if not any(one.mode != "r" for one in frame.emitter.arguments):
        raise frame.error(
            frame.source.node, "this kernel writes nothing", fix="Return a value, or annotate an argument Mutable[...]"
        )


def _items(value: Val) -> tuple[Number, ...]:
    if isinstance(value, Group):
        return value.items
    assert isinstance(value, Number)
    return (value,)
