"""Whether two definitions are the same one, met twice: a module that was reloaded, a notebook cell run again."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, MethodType, NoneType
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

    Functions are the same when module, qualified name and code are, and the plain values among their defaults and in
    what they close over: numbers, strings, other functions. Other objects they hold, such as arrays, are made anew
    each time a module or a cell is run, and do not count. Where a function stands in its file does not matter.
    Dataclasses are the same when all their fields are. Anything else is compared by ``==``.
    """
    return _same(a, b, set())


def _same(a: Any, b: Any, met: set[tuple[int, int]]) -> bool:
    if a is b or (id(a), id(b)) in met:
        return True
    if type(a) is not type(b):
        return False
    met.add((id(a), id(b)))  # a function may close over itself
    if isinstance(a, FunctionType):
        return (
            (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)
            and _same_code(a.__code__, b.__code__)
            and _alike(_held(a), _held(b), met)
        )
    if isinstance(a, MethodType):
        return _same(a.__func__, b.__func__, met) and _same(a.__self__, b.__self__, met)
    if isinstance(a, functools.partial):
        return _same((a.func, a.args, a.keywords), (b.func, b.args, b.keywords), met)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y, met) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(value, b[key], met) for key, value in a.items())
    if is_dataclass(a):
        return all(_same(getattr(a, f.name), getattr(b, f.name), met) for f in fields(a))
    try:
        return bool(a == b)
    except Exception:
        return False


_PLAIN = (bool, int, float, complex, str, bytes, tuple, NoneType, FunctionType, MethodType, functools.partial)


def _alike(a: tuple[Any, ...], b: tuple[Any, ...], met: set[tuple[int, int]]) -> bool:
    """Whether two functions hold the same plain values, and other objects in the same places."""
    return len(a) == len(b) and all(
        _same(x, y, met) if isinstance(x, _PLAIN) or isinstance(y, _PLAIN) else type(x) is type(y)
        for x, y in zip(a, b, strict=True)
    )


def _same_code(a: CodeType, b: CodeType) -> bool:
    if any(getattr(a, part) != getattr(b, part) for part in _CODE) or len(a.co_consts) != len(b.co_consts):
        return False
    return all(
        _same_code(x, y) if isinstance(x, CodeType) and isinstance(y, CodeType) else type(x) is type(y) and x == y
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    )


def _held(function: FunctionType) -> tuple[Any, ...]:
    """Return a function's defaults and what it closes over; an empty cell counts as itself."""

    def content(cell: Any) -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return ...

    keywords = sorted((function.__kwdefaults__ or {}).items())
    cells = tuple(content(cell) for cell in function.__closure__ or ())
    return (*(function.__defaults__ or ()), *(value for _, value in keywords), *cells)
