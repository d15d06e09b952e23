"""The frameworks' own nodes: ``eagle.frameworks.jax`` is the public module of the plugin that brings ``jax``.

Both ``import eagle.frameworks.jax`` and ``from eagle.frameworks import jax`` work, for every framework an installed
plugin names an ``api`` for. Nothing is imported before that.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__: list[str] = []

_OURS = ("jax", "torch", "warp")  # each in a distribution of its own, eagle-jax and so on


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_known()})


class _Finder(MetaPathFinder, Loader):
    """Gives the public module of a plugin a second name below this package."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        package, _, name = fullname.rpartition(".")
        return ModuleSpec(fullname, self, loader_state=_module(name, fullname)) if package == __name__ else None

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        sys.modules[module.__name__] = module.__spec__.loader_state


def _module(name: str, fullname: str) -> ModuleType:
    """Import the public module of the plugin that brings a framework, or say what to install."""
    from eagle.errors import FrameworkNotFound
    from eagle.plugin.lookup import framework_named, left_out
    from eagle.plugin.suggestions import did_you_mean

    found = framework_named(name)
    if found is None or found.api is None:
        hint = f"pip install eagle-{name}." if name in _OURS else did_you_mean(name, {*_OURS, *_known()})
        fix = " ".join(filter(None, (hint or "eagle plugins lists what is installed.", left_out())))
        raise FrameworkNotFound(f"no installed plugin brings {fullname}", fix=fix, name=fullname)
    if found.needs not in sys.modules and find_spec(found.needs) is None:
        raise FrameworkNotFound(
            f"{fullname} needs {found.needs}, which is not installed",
            fix=f"pip install {found.distribution or found.needs}.",
            name=found.needs,
        )
    return import_module(found.api)


def _known() -> list[str]:
    from eagle.plugin import frameworks

    return [one.name for one in frameworks() if one.api is not None]


sys.meta_path.append(_Finder())
