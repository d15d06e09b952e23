"""Did you mean: the nearest of the names there are."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence with the nearest of `known`, or the empty string."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=1)
    return f"Did you mean {near[0]!r}?" if near else ""
