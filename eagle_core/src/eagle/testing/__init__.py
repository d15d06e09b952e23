"""For the tests of plugins: use a hooks module as if it were installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from eagle.plugin.registry import registry

__all__ = ["registered"]


@contextmanager
def registered(module: ModuleType, name: str | None = None) -> Iterator[None]:
    """Load `module` as a plugin, beside those that are installed, for the time of a ``with`` block.

    It goes through the same door as an installed one: its contract version, hooks and what they return are checked,
    and `eagle.plugin.plugins` tells what became of it. What is wrong with it is warned about at the first look-up,
    as `PluginWarning`.

    Parameters
    ----------
    module : module
        A hooks module.
    name : str, optional
        The plugin's name; by default the module's top-level package.
    """
    from eagle.plugin.loader import Candidate

    package = module.__name__.partition(".")[0]
    candidate = Candidate(
        name=name or package, distribution=package.replace("_", "-"), version="0", package=package, load=lambda: module
    )
    registry.extra.append(candidate)
    registry.refresh()
    try:
        yield
    finally:
        registry.extra.remove(candidate)
        registry.refresh()
