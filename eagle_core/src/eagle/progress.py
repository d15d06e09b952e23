"""Showing how far a run is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from eagle.errors import EagleError, GraphTypeError

__all__ = ["Progress", "progress_of", "shown"]

Progress: TypeAlias = Callable[[int, int, int], object]
"""Called with (samples done, samples, steps)."""

_QUIET_S = 1.0  # a run shorter than this shows nothing


class MissingExtra(EagleError, ImportError):
    """A package that is optional, and needed for what was asked."""


def progress_of(progress: bool | Progress) -> Progress | None:
    """Return what to call as a run goes on, or None.

    Raises
    ------
    MissingExtra
        True was asked for, and tqdm is not installed.
    GraphTypeError
        It is neither a bool nor a callable.
    """
    if progress is False or progress is None:
        return None
    if progress is True:
        return _Bar()
    if callable(progress):
        return progress
    raise GraphTypeError(f"progress is True, False or a callable, not {progress!r}")


@contextmanager
def shown(progress: Progress | None) -> Iterator[None]:
    """For the time of one run, show a bar if there is one."""
    if not isinstance(progress, _Bar):
        yield
        return
    progress.begin()
    try:
        yield
    finally:
        progress.close()


class _Bar:
    """A bar over samples, made once the run has taken a second."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise MissingExtra(
                "progress=True shows a bar with the package tqdm, which is not installed",
                fix="Install eagle-core[progress], or pass a callable.",
            ) from error
        self._make: Any = tqdm
        self.begin()

    def begin(self) -> None:
        """Start the clock of a run."""
        self._bar: Any = None
        self._start = time.perf_counter()

    def close(self) -> None:
        """Take the bar away, however the run ended."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __call__(self, done: int, samples: int, steps: int) -> None:
        if self._bar is None:
            if time.perf_counter() - self._start < _QUIET_S:
                return
            self._bar = self._make(total=samples, unit=" samples")
        self._bar.update(done - self._bar.n)
