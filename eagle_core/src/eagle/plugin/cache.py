"""The folder that a distribution of eagle may keep files in, when it is safe to."""

from __future__ import annotations

import os
import stat
import threading
import warnings
from pathlib import Path

from eagle.errors import PluginWarning

__all__ = ["cache_dir"]

_PRIVATE = 0o700
_told: set[str] = set()
_lock = threading.Lock()


def cache_dir(distribution: str) -> Path | None:
    """Return the folder for a distribution's cached files, made when it is missing.

    It is ``eagle/<distribution>`` below ``$EAGLE_CACHE_DIR``, else below ``$XDG_CACHE_HOME`` or ``~/.cache``.

    Parameters
    ----------
    distribution : str

    Returns
    -------
    Path or None
        None, with a `PluginWarning` the first time, when the folder cannot be made or written, or when another user
        owns it or may write to it: what is loaded from it is executed.
    """
    try:
        folder = _root() / "eagle" / distribution
        folder.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
        why = _unsafe(folder)
    except (OSError, RuntimeError) as error:
        folder, why = Path(distribution), str(error)
    if why is None:
        return folder
    _warn_once(why, distribution)
    return None


def _root() -> Path:
    for variable in ("EAGLE_CACHE_DIR", "XDG_CACHE_HOME"):
        if os.environ.get(variable):
            return Path(os.environ[variable])
    return Path.home() / ".cache"


def _unsafe(folder: Path) -> str | None:
    """Return why the folder is not to be used."""
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is no folder"
    if hasattr(os, "getuid"):
        if found.st_uid != os.getuid():
            return f"{folder} belongs to another user"
        if found.st_mode & 0o077:
            return f"other users have access to {folder}; chmod 700 it"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} cannot be written"
    return None


def _warn_once(why: str, distribution: str) -> None:
    with _lock:
        if why in _told:
            return
        _told.add(why)
    warnings.warn(
        f"{distribution} keeps nothing on disk: {why}. Set EAGLE_CACHE_DIR to a folder of your own",
        PluginWarning,
        stacklevel=3,
    )


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
