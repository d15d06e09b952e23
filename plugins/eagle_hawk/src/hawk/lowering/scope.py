"""The names around a function: closure, globals, builtins; each read once and then kept."""

from __future__ import annotations

import builtins
import copy
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

__all__ = ["Scope", "Undefined"]


class Undefined(Exception):
    """A name or an attribute that is not there."""


@dataclass(slots=True)
class Scope:
    """What the names of one function that are not its own stand for.

    Attributes
    ----------
    function : FunctionType
    frozen : dict
        What each name stood for when it was first read; a later change of it changes nothing.
    """

    function: FunctionType
    frozen: dict[tuple[FunctionType, str], object]

    def name(self, name: str) -> Any:
        """Return what a name stands for.

        Raises
        ------
        Undefined
            There is no such name.
        """
        return self._kept(name, lambda: self._read(name))

    def attribute(self, path: str, owner: object, name: str) -> Any:
        """Return an attribute; `path` is how the source spells it, from a name of the surroundings on."""

        def read() -> object:
            try:
                return getattr(owner, name)
            except Exception:
                raise Undefined(name) from None

        return self._kept(path, read)

    def is_own(self, name: str) -> bool:
        """Whether a name is a variable of the function itself."""
        code = self.function.__code__
        return name in code.co_varnames or name in code.co_cellvars

    def _kept(self, path: str, read: Any) -> object:
        key = (self.function, path)
        if key not in self.frozen:
            found = read()
            self.frozen.setdefault(key, copy.copy(found) if isinstance(found, np.ndarray | list) else found)
        return self.frozen[key]

    def _read(self, name: str) -> object:
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise Undefined(name) from None
        for names in (self.function.__globals__, vars(builtins)):
            if name in names:
                return names[name]
        raise Undefined(name)
