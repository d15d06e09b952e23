"""Labels of nodes: each addresses one node."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Labels"]


class Labels:
    """The labels in use in one graph or body; a name that is taken gets the next free suffix: ``scale_2``."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}  # label in use -> the suffix to try first for its next duplicate
        self._pending: dict[str, int] = {}

    def reserve(self, names: Iterable[str]) -> list[str]:
        """Return a free label for each name. Nothing is in use until `commit`."""
        pending: dict[str, int] = {}
        labels = []
        for name in names:
            label = name
            if name in self._next or name in pending:
                suffix = pending.get(name) or self._next[name]
                while (label := f"{name}_{suffix}") in self._next or label in pending:
                    suffix += 1
                pending[name] = suffix + 1
            pending.setdefault(label, 2)
            labels.append(label)
        self._pending = pending
        return labels

    def commit(self) -> None:
        """Take the labels last reserved into use."""
        self._next.update(self._pending)
        self._pending = {}
