"""Everything registered: by the core, by the running program, and by plugins, which are found on first need."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eagle.errors import GraphTypeError, PluginError, PluginWarning
from eagle.plugin.definitions import same_definition
from eagle.plugin.lowering import Lowering
from eagle.plugin.nodes import NodeKind
from eagle.plugin.suggestions import did_you_mean
from eagle.plugin.tables import Entry, Tables
from eagle.plugin.validation import check_item

if TYPE_CHECKING:
    from eagle.plugin.loader import Candidate, Found, Switches
    from eagle.plugin.status import PluginStatus

__all__ = ["OWN", "plugins", "refresh", "register", "registry"]

OWN = "eagle-core"
SCRIPT = "this program"


class Registry:
    """What the core and the running program registered, and what plugins brought, found on first need."""

    def __init__(self) -> None:
        self.own = Tables()
        self.extra: list[Candidate] = []  # candidates registered by tests beside the installed ones
        self._found: Tables | None = None
        self._statuses: tuple[PluginStatus, ...] = ()
        self.failing: set[str] = set()  # frameworks whose adapter failed in use
        self._strict = ""  # what is wrong, when that is to be an error
        self._lock = threading.RLock()
        self._looking = False

    @property
    def found(self) -> Tables:
        """What plugins brought.

        Raises
        ------
        PluginError
            A plugin has a problem and EAGLE_STRICT_PLUGINS is set.
        """
        tables = self._discover()
        if self._strict:
            raise PluginError("EAGLE_STRICT_PLUGINS is set and there are problems", why=self._strict)
        return tables

    @property
    def statuses(self) -> tuple[PluginStatus, ...]:
        """What became of each plugin; raises nothing, whatever state they are in."""
        self._discover()
        return self._statuses

    def refresh(self) -> None:
        """Forget what was found, so that it is looked for again on next need."""
        import importlib

        importlib.invalidate_caches()
        with self._lock:
            self._found, self._statuses, self._strict = None, (), ""
            self.failing = set()

    def both(self) -> Iterator[Tables]:
        """The core's tables, then the plugins'."""
        yield self.own
        yield self.found

    def _discover(self) -> Tables:
        if self._found is not None:
            return self._found
        from eagle.plugin import loader

        with self._lock:
            if self._found is not None:
                return self._found
            if self._looking:  # a plugin's module that uses eagle while it is imported
                return Tables()
            self._looking = True
            try:
                switches = loader.Switches.read()
                those = sorted((*loader.candidates(), *self.extra), key=lambda one: (one.name, one.distribution))
                tables, statuses = _merge(loader.find(those, switches))
                problems = _problems(statuses, switches)
                self._strict = "; ".join(problems) if switches.strict else ""
                self._statuses = statuses
                self._found = tables  # last: it is read without the lock
            finally:
                self._looking = False
        if not switches.strict:
            for problem in problems:
                warnings.warn(problem, PluginWarning, stacklevel=2)
        return tables

    def fail(self, owner: str, why: str, error: BaseException) -> None:
        """Mark a plugin as broken by something that came to light in use, and warn about it once."""
        for position, status in enumerate(self._statuses):
            if str(status) == owner and status.state == "ready":
                broken = replace(status, state="broken", why=why, exception=error)
                self._statuses = (*self._statuses[:position], broken, *self._statuses[position + 1 :])
                warnings.warn(_left_out(broken), PluginWarning, stacklevel=2)

    def _remake_lock(self) -> None:
        self._lock = threading.RLock()
        self._looking = False


registry = Registry()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=registry._remake_lock)


def plugins() -> tuple[PluginStatus, ...]:
    """Return the status of every plugin found, by (name, distribution). It raises nothing, whatever they are like."""
    return registry.statuses


def refresh() -> None:
    """Look for plugins again on next need: after a ``pip install`` in a running notebook.

    What was imported before is not imported again.
    """
    registry.refresh()


def register(*items: NodeKind[Any] | Lowering, owner: str = SCRIPT) -> None:
    """Add kinds of node and lowerings of the running program, without a package around them.

    Parameters
    ----------
    *items : NodeKind or Lowering
        Registering the same definition again is fine.
    owner : str
        What messages call their owner.

    Raises
    ------
    PluginError
        One exists already with another definition, or a field is not what it has to be. Nothing is registered then.
    GraphTypeError
        Something else was given.
    """
    seen: dict[object, NodeKind[Any] | Lowering] = {}
    for item in items:
        if not isinstance(item, (NodeKind, Lowering)):
            raise GraphTypeError(f"register takes kinds and lowerings, not {item!r}")
        check_item(item)
        twin = seen.setdefault(item.name if isinstance(item, NodeKind) else (item.kind, item.backend), item)
        if not same_definition(twin, item):
            raise PluginError(f"{twin!r} and {item!r} are given together, and differ")
    with registry._lock:
        for item in items:
            known = (
                registry.own.kinds.get(item.name)
                if isinstance(item, NodeKind)
                else registry.own.lowerings.get((item.kind, item.backend))
            )
            if known is None and owner == SCRIPT and isinstance(item, NodeKind) and "." in item.name:
                known = registry.found.kinds.get(item.name)
            if known is not None and not same_definition(known.item, item):
                what = f"kind {item.name!r}" if isinstance(item, NodeKind) else f"lowering of kind {item.kind!r}"
                raise PluginError(
                    f"another {what} is registered already, by {known.owner}",
                    why="its definition differs",
                    fix="Choose another name.",
                )
        for item in items:
            registry.own.add(item, owner, OWN if owner == OWN else SCRIPT)


def _merge(found: Iterable[Found]) -> tuple[Tables, tuple[PluginStatus, ...]]:
    """Put what plugins brought into tables, and mark those that clash."""
    tables = Tables()
    statuses = {one.status.key: one.status for one in found}
    for one in found:
        if one.status.state != "ready":
            continue
        owner = str(one.status)
        for item in (item for items in one.brought.values() for item in items):
            if (core := registry.own.like(item)) is not None and not same_definition(core.item, item):
                concerned: tuple[Entry, ...] = (core, Entry(item, owner, one.status.distribution))
            else:
                concerned = tables.add(item, owner, one.status.distribution)
            if concerned:
                _mark(statuses, item, concerned)
    return tables, tuple(statuses[key] for key in sorted(statuses))


def _mark(statuses: dict[tuple[str, str, str], PluginStatus], item: Any, concerned: tuple[Entry, ...]) -> None:
    what = f"{item.kind} on {item.backend}" if isinstance(item, Lowering) else item.name
    owners = [entry.owner for entry in concerned]
    for key, status in statuses.items():
        if str(status) in owners:
            statuses[key] = replace(
                status,
                state="clash",
                why=f"{type(item).__name__} {what!r} is defined differently by {' and '.join(owners)}; "
                "uninstall one of them",
            )


def _left_out(status: PluginStatus) -> str:
    return (
        f"eagle {status} is {'in part ' if status.hooks else ''}left out: {status.why.rstrip('.')}. "
        f"Remove it with 'pip uninstall {status.distribution}', or set EAGLE_DISABLE_PLUGINS={status.name}"
    )


def _problems(statuses: Iterable[PluginStatus], switches: Switches) -> list[str]:
    """One sentence per plugin that is left out against the user's wish, and per name in a switch that fits none."""
    statuses = tuple(statuses)
    problems = [_left_out(status) for status in statuses if status.state in ("broken", "clash", "incompatible")]
    names = {status.name for status in statuses}
    listed = sorted((switches.only or frozenset()) | switches.without)
    problems += [
        " ".join(
            (f"EAGLE_PLUGINS or EAGLE_DISABLE_PLUGINS names {name!r}, which is no plugin.", did_you_mean(name, names))
        )
        for name in listed
        if name not in names
    ]
    return problems
