"""Modules of eagle whose names are those of a plugin's module, which is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from eagle.errors import FrameworkNotFound
from eagle.plugin.lookup import backends, left_out

__all__ = ["door", "not_brought"]


def door(module: str, distribution: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module of eagle that stands for the one a backend names in `Backend.modules`.

    Parameters
    ----------
    module : str
        ``"eagle.loaded"``.
    distribution : str
        What to install where no backend brings it, which a use of the module then says as a `FrameworkNotFound`.
    """

    def look_up(name: str) -> Any:
        if name.startswith("_"):  # what the import system and tools look for
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        for backend in backends():
            if module in backend.modules:
                return getattr(import_module(backend.modules[module]), name)
        raise not_brought(module, f"pip install {distribution}.")

    return look_up


def not_brought(module: str, fix: str) -> FrameworkNotFound:
    """Make the error for a module that no plugin in use brings, with the plugins that were left out named."""
    error = FrameworkNotFound(f"no installed plugin brings {module}", fix=f"{fix} {left_out()}".strip())
    error.name = module
    return error
