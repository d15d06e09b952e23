"""What hawk raises: a program outside the language, and a kernel used as if it were a function."""

from __future__ import annotations

from eagle.errors import EagleError

__all__ = ["KernelError", "KernelUseError"]


class KernelError(EagleError, SyntaxError):
    """A kernel that is not in the language, with the place in its source.

    Python prints file, line and a caret under the place, as for a syntax error.

    Parameters
    ----------
    what, why, fix : str
        What was found, the reason, and what to write instead.
    filename : str
    lineno : int
        From 1; 0 when there is no source.
    offset, end_offset : int
        Columns from 1, of the first character and behind the last one.
    text : str
        The line of source.
    """

    def __init__(
        self,
        what: str = "",
        *,
        why: str = "",
        fix: str = "",
        filename: str | None = None,
        lineno: int = 0,
        offset: int = 0,
        end_offset: int = 0,
        text: str = "",
    ) -> None:
        super().__init__(what, why=why, fix=fix)
        self.msg = EagleError.__str__(self)
        self.filename = filename
        if lineno:
            self.lineno = self.end_lineno = lineno
            self.offset, self.end_offset, self.text = offset, max(end_offset, offset + 1), text

    def __str__(self) -> str:
        if self.lineno is None or self.offset is None or self.end_offset is None or self.text is None:
            return self.msg
        line = self.text.rstrip()
        stripped = line.lstrip()
        pad = max(self.offset - 1 - (len(line) - len(stripped)), 0)
        width = max(min(self.end_offset, len(line) + 1) - self.offset, 1)
        return f'{self.msg}\n  File "{self.filename}", line {self.lineno}\n    {stripped}\n    {" " * pad}{"^" * width}'


class KernelUseError(EagleError, TypeError):
    """Something of the kernel language used outside a kernel."""
