"""Tables of what is registered, that keep a key defined twice as a clash."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from eagle.errors import PluginError
from eagle.plugin.backend import Backend
from eagle.plugin.definitions import same_definition
from eagle.plugin.lowering import Lowering
from eagle.plugin.nodes import NodeKind

if TYPE_CHECKING:
    from eagle.plugin.framework import Framework

__all__ = ["Entry", "Table", "Tables"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Entry(NamedTuple):
    """One registered item and who registered it."""

    item: Any
    owner: str
    distribution: str


class Table(Generic[K, T]):
    """One kind of thing by its key. A key defined twice, differently, is kept as a clash that raises when used."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.entries: dict[K, Entry] = {}
        self.clashes: dict[K, tuple[Entry, ...]] = {}

    def add(self, key: K, item: T, owner: str, distribution: str) -> tuple[Entry, ...]:
        """Add one; return every entry of a clash this made or joined."""
        entry = Entry(item, owner, distribution)
        known = self.clashes.get(key) or ((self.entries[key],) if key in self.entries else ())
        if not known:
            self.entries[key] = entry
        elif key in self.clashes or not same_definition(known[0].item, item):
            self.entries.pop(key, None)
            self.clashes[key] = (*known, entry)
            return self.clashes[key]
        return ()

    def get(self, key: K) -> Entry | None:
        """Return what has that key.

        Raises
        ------
        PluginError
            It is defined twice.
        """
        if key in self.clashes:
            owners = " and ".join(entry.owner for entry in self.clashes[key])
            raise PluginError(
                f"{self.what} {key!r} is defined differently by {owners}",
                fix="Uninstall one of them, or leave one out with EAGLE_DISABLE_PLUGINS.",
                plugins=[entry.owner for entry in self.clashes[key]],
            )
        return self.entries.get(key)


class Tables:
    """The four tables."""

    def __init__(self) -> None:
        self.kinds: Table[str, NodeKind[Any]] = Table("node kind")
        self.lowerings: Table[tuple[str, str], Lowering] = Table("the lowering for (kind, backend)")
        self.backends: Table[str, Backend] = Table("backend")
        self.frameworks: Table[str, Framework] = Table("framework")

    def add(self, item: Any, owner: str, distribution: str) -> tuple[Entry, ...]:
        """Add an item to the table it belongs in; return the entries of the clash it is part of, if any."""
        table, key = self._place(item)
        return table.add(key, item, owner, distribution)

    def like(self, item: Any) -> Entry | None:
        """Return what has the key of `item` here."""
        table, key = self._place(item)
        return table.get(key)

    def _place(self, item: Any) -> tuple[Table[Any, Any], Any]:
        if isinstance(item, NodeKind):
            return self.kinds, item.name
        if isinstance(item, Lowering):
            return self.lowerings, (item.kind, item.backend)
        if isinstance(item, Backend):
            return self.backends, item.name
        return self.frameworks, item.name
