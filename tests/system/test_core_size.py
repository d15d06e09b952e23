"""The core stays small: what it does not need to hold goes into a plugin."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

CORE = Path(__file__).parents[2] / "eagle_core" / "src" / "eagle"
NOT_COUNTED = {"draw", "testing"}
MOST = 5000
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """Count lines with code on them, docstrings not being code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def test_lines_are_counted_without_words_about_them() -> None:
    assert code_lines('"""What it is."""\n\n# why\nx = 1  # one\ny = (\n    2\n)\n') == 4


def test_the_core_has_at_most_five_thousand_lines_of_code() -> None:
    files = [path for path in CORE.rglob("*.py") if not NOT_COUNTED & set(path.relative_to(CORE).parts)]
    assert sum(code_lines(path.read_text(encoding="utf-8")) for path in files) <= MOST
