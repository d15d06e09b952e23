"""Whether two definitions are the same one, met twice: a module that was reloaded, a notebook cell run again."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

__all__ = ["same_definition"]

_CODE = (
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_name",
)


def same_definition(a: Any, b: Any) -> bool:
    """Whether `a` and `b` do the same by definition.

    Functions are the same when module, qualified name, code, defaults and what they close over are; where they stand
    in their file does not matter. Frozen dataclasses are the same when all their fields are. Anything else is
    compared by ``==``.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, FunctionType):
        return (
            (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)
            and _same_code(a.__code__, b.__code__)
            and same_definition(a.__defaults__, b.__defaults__)
            and same_definition(a.__kwdefaults__, b.__kwdefaults__)
            and same_definition(_closed_over(a), _closed_over(b))
        )
    if isinstance(a, MethodType):
        return same_definition(a.__func__, b.__func__) and same_definition(a.__self__, b.__self__)
    if isinstance(a, functools.partial):
        return same_definition((a.func, a.args, a.keywords), (b.func, b.args, b.keywords))
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same_definition, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_definition(value, b[key]) for key, value in a.items())
    if is_dataclass(a):
        return all(same_definition(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    try:
        return bool(a == b)
    except Exception:
        return False


def _same_code(a: CodeType, b: CodeType) -> bool:
    if any(getattr(a, part) != getattr(b, part) for part in _CODE) or len(a.co_consts) != len(b.co_consts):
        return False
    return all(
        _same_code(x, y) if isinstance(x, CodeType) and isinstance(y, CodeType) else type(x) is type(y) and x == y
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )


def _closed_over(function: FunctionType) -> tuple[Any, ...]:
    def content(cell: Any) -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return None

    return tuple(content(cell) for cell in function.__closure__ or ())
