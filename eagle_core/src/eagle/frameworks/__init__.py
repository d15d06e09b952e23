"""The frameworks' own nodes: ``eagle.frameworks.jax`` is the public module of the plugin that brings ``jax``.

Both ``import eagle.frameworks.jax`` and ``from eagle.frameworks import jax`` work, for every framework an installed
plugin names an ``api`` for. Nothing is imported before that.
"""

from __future__ import annotations

import sys
from importlib import abc, import_module, machinery, util
from typing import Any

_OURS = ("jax", "torch", "warp")  # each in a distribution of its own, eagle-jax and so on


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


class _Finder(abc.MetaPathFinder, abc.Loader):
    """Gives the public module of a plugin a second name below this package."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> Any:
        package, _, name = fullname.rpartition(".")
        module = _module(name, fullname) if package == __name__ else None
        return module and machinery.ModuleSpec(fullname, self, loader_state=module)

    def exec_module(self, module: Any) -> None:
        sys.modules[module.__name__] = module.__spec__.loader_state


def _module(name: str, fullname: str) -> Any:
    """Import the public module of the plugin that brings a framework, or say what to install."""
    from eagle.errors import FrameworkNotFound
    from eagle.plugin.doors import not_brought
    from eagle.plugin.lookup import frameworks
    from eagle.plugin.suggestions import did_you_mean

    known = {one.name: one for one in frameworks() if one.api is not None}
    if (found := known.get(name)) is None:
        hint = f"pip install eagle-{name}." if name in _OURS else did_you_mean(name, {*_OURS, *known})
        raise not_brought(fullname, hint or "eagle plugins lists what is installed.")
    if found.needs in sys.modules or util.find_spec(found.needs) is not None:
        return import_module(str(found.api))
    fix = f"pip install {found.distribution or found.needs}."
    error = FrameworkNotFound(f"{fullname} needs {found.needs}, which is not installed", fix=fix)
    error.name = found.needs
    raise error


sys.meta_path.append(_Finder())
