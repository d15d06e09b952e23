"""Where a function's source is, as a tree with the lines and columns of its file."""

from __future__ import annotations

import ast
import inspect
import linecache
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType

from eagle_ir import Site
from hawk.errors import KernelError

__all__ = ["Source", "source_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The source of one function.

    Attributes
    ----------
    filename : str
    lines : tuple of str
        All lines of the file.
    node : ast.FunctionDef
    """

    filename: str
    lines: tuple[str, ...]
    node: ast.FunctionDef

    @property
    def text(self) -> str:
        """The function's own lines, decorators included."""
        first = min([self.node.lineno, *(one.lineno for one in self.node.decorator_list)])
        return "".join(self.lines[first - 1 : self.node.end_lineno])

    def error(self, node: ast.AST, what: str, *, why: str = "", fix: str = "") -> KernelError:
        """Return the error for something at a node of the tree."""
        line = int(getattr(node, "lineno", self.node.lineno))
        start = int(getattr(node, "col_offset", 0))
        end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", line) == line else None
        text = self._line(line)
        return KernelError(
            what,
            why=why,
            fix=fix,
            filename=self.filename,
            lineno=line,
            offset=_column(text, start),
            end_offset=_column(text, end) if end is not None else len(text.rstrip()) + 1,
            text=text,
        )

    def site(self, node: ast.AST) -> Site:
        """Return the place of a node, for what may go wrong while the kernel runs."""
        line = int(getattr(node, "lineno", self.node.lineno))
        return Site(self.filename, line, self._line(line).strip())

    def _line(self, line: int) -> str:
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""


def source_of(function: FunctionType, around: Source | None = None) -> Source:
    """Return the source of a function.

    Parameters
    ----------
    function : FunctionType
    around : Source, optional
        Of the kernel that calls it: a function of the same file is looked for in what was read then.

    Raises
    ------
    KernelError
        There is no source, or it is not what Python runs; it says what to do.
    """
    code = function.__code__
    if code.co_name == "<lambda>":
        raise _at_code(code, "a lambda is not part of the kernel language", "Write it with def")
    if around is not None and around.filename == code.co_filename:
        node = _matching(around.lines, code)
        if node is not None:
            return _checked(Source(code.co_filename, around.lines, node))  # type: ignore[arg-type]
    if Path(code.co_filename).exists():
        linecache.checkcache(code.co_filename)
    lines = tuple(linecache.getlines(code.co_filename, function.__globals__)) or _typed_in(function)
    if not lines:
        raise _at_code(
            code,
            f"the source of {function.__name__} cannot be read",
            "Put it in a file or a notebook cell: an interactive shell keeps sources from Python 3.13 on, and code "
            "made by exec has none",
        )
    node = _matching(lines, code)
    if node is None:
        raise _at_code(
            code,
            f"the source of {function.__name__} is not what Python runs",
            "Its file changed after it was imported, or an import hook rewrote it: import it again, without the hook",
        )
    return _checked(Source(code.co_filename, lines, node))  # type: ignore[arg-type]


def _typed_in(function: FunctionType) -> tuple[str, ...]:
    """Return the lines of what was typed into an interactive shell, where Python keeps them."""
    if not function.__code__.co_filename.startswith("<"):
        return ()
    try:
        return tuple(inspect.findsource(function)[0])
    except (OSError, TypeError):
        return ()


def _matching(lines: tuple[str, ...], code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    text = "".join(lines)
    node = _definitions(text).get((code.co_name, code.co_firstlineno))
    return node if node is not None and _same(node, code, text) else None


def _checked(source: Source) -> Source:
    if isinstance(source.node, ast.AsyncFunctionDef):
        raise source.error(source.node, "async is not part of the kernel language", fix="Write it with def")
    return source


@lru_cache(maxsize=32)
def _definitions(text: str) -> dict[tuple[str, int], ast.FunctionDef | ast.AsyncFunctionDef]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    return {
        (node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])): node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


@lru_cache(maxsize=32)
def _codes(text: str) -> dict[tuple[str, int], CodeType]:
    found: dict[tuple[str, int], CodeType] = {}
    waiting = [compile(text, "<source>", "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        found[code.co_name, code.co_firstlineno] = code
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def _same(node: ast.AST, code: CodeType, text: str) -> bool:
    """Whether the source read gives the code that runs; an assert may have been rewritten by a test runner."""
    if any(isinstance(one, ast.Assert) for one in ast.walk(node)):
        return True
    try:
        fresh = _codes(text).get((code.co_name, code.co_firstlineno))
    except SyntaxError:
        return True
    return fresh is not None and (fresh.co_code, fresh.co_names, fresh.co_varnames, _numbers(fresh)) == (
        code.co_code,
        code.co_names,
        code.co_varnames,
        _numbers(code),
    )


def _numbers(code: CodeType) -> list[str]:
    return [repr(one) for one in code.co_consts if isinstance(one, (int, float))]


def _at_code(code: CodeType, what: str, fix: str) -> KernelError:
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    if not line:
        return KernelError(what, fix=fix, filename=code.co_filename)
    start = len(line) - len(line.lstrip()) + 1
    return KernelError(
        what,
        fix=fix,
        filename=code.co_filename,
        lineno=code.co_firstlineno,
        offset=start,
        end_offset=len(line.rstrip()) + 1,
        text=line,
    )


def _column(text: str, offset: int) -> int:
    """Turn a count of UTF-8 bytes into a column from 1."""
    return len(text.encode()[:offset].decode(errors="ignore")) + 1
