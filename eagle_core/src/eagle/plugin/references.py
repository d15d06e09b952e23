"""``"package.module:attribute"`` in place of an object, so that a hooks module imports nothing heavy."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from eagle.errors import PluginError

__all__ = ["resolve"]


def resolve(reference: Any, what: str) -> Any:
    """Return `reference` itself, or what it names when it is a string.

    Parameters
    ----------
    reference : object or str
    what : str
        What is being looked up, for the message: ``"the lowering of kind 'fft.rfft' for backend 'cpu'"``.

    Raises
    ------
    PluginError
        The string names nothing that can be imported.
    """
    if not isinstance(reference, str):
        return reference
    if not all(reference.partition(":")):
        raise PluginError(
            f"{what} is given as {reference!r}", fix='Write it as "package.module:attribute", or pass the object.'
        )
    try:
        return _imported(reference)
    except Exception as error:
        raise PluginError(
            f"{what} is given as {reference!r}, which cannot be imported", why=f"{type(error).__name__}: {error}"
        ) from error


@functools.cache
def _imported(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found
