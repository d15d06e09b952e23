"""Finding what is registered, or saying what is not and what to install."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from eagle.errors import BackendUnavailable, BuildError, GraphError, PluginError
from eagle.plugin.arrays import ArrayAdapter
from eagle.plugin.backend import Backend
from eagle.plugin.blueprint import Placed
from eagle.plugin.lowering import Lowering
from eagle.plugin.nodes import NodeKind
from eagle.plugin.references import resolve
from eagle.plugin.registry import registry
from eagle.plugin.suggestions import did_you_mean
from eagle.plugin.tables import Entry, Table

if TYPE_CHECKING:
    from eagle.plugin.framework import ForeignGraph, Framework

__all__ = [
    "adopters",
    "backend_named",
    "backends",
    "described",
    "framework_adapter",
    "frameworks",
    "imported_frameworks",
    "instance_of",
    "kind_named",
    "kinds",
    "lowering_for",
    "lowerings",
    "no_backend",
    "refuse_clashing_backend",
    "why_not",
]

T = TypeVar("T")


def kind_named(name: str) -> NodeKind[Any]:
    """Return the node kind called `name`.

    Raises
    ------
    GraphError
        There is none.
    PluginError
        Two plugins define it differently.
    """
    entry = registry.own.kinds.get(name) or registry.found.kinds.get(name)
    if entry is None:
        hint = did_you_mean(name, (kind.name for kind in kinds()))
        raise GraphError(
            f"there is no node kind {name!r}",
            fix=" ".join(filter(None, (hint, "eagle plugins lists what is installed.", left_out()))),
        )
    return entry.item  # type: ignore[no-any-return]


def lowering_for(placed: Placed[Any], backend: str) -> Callable[[Placed[Any], Any], Any]:
    """Return how `placed` runs on `backend`: its own lowering, else the one for ``"*"``.

    Raises
    ------
    BuildError
        There is neither.
    """
    kind = placed.kind.name
    for target in (backend, "*"):
        for tables in registry.both():
            if (entry := tables.lowerings.get((kind, target))) is not None:
                what = f"the lowering of kind {kind!r} for backend {target!r} from {entry.owner}"
                return resolve(entry.item.lower, what)  # type: ignore[no-any-return]
    having = [
        f"{key[1]} ({entry.distribution})"
        for tables in registry.both()
        for key, entry in sorted(tables.lowerings.entries.items())
        if key[0] == kind
    ]
    raise BuildError(
        f"kind {kind!r} has no lowering for backend {backend!r}",
        why=f"there is one for {', '.join(having)}" if having else "there is none for any backend",
        fix=" ".join(filter(None, ("Install a plugin that brings one, or register one.", left_out()))),
        nodes=(placed.label,),
    )


def backend_named(name: str) -> Backend | None:
    """Return the backend called `name`, or None. Raises `PluginError` when two plugins define it."""
    for tables in registry.both():
        if (entry := tables.backends.get(name)) is not None:
            return entry.item  # type: ignore[no-any-return]
    return None


def no_backend(message: str, *, why: str = "", fix: str = "") -> BackendUnavailable:
    """Make the error for "no backend", with the plugins that were left out named."""
    return BackendUnavailable(message, why=why, fix=" ".join(filter(None, (fix, left_out()))))


def framework_adapter(array: object) -> ArrayAdapter | None:
    """Return the adapter of an imported framework that claims `array`, by name of framework, or None.

    A framework whose adapter cannot be loaded, or fails on an array, is left out and warned about once.
    """
    for entry in imported_frameworks():
        framework: Framework = entry.item
        if framework.arrays is None or framework.name in registry.failing:
            continue
        try:
            what = f"the array adapter of framework {framework.name!r}"
            adapter = instance_of(framework.arrays, ArrayAdapter, what)  # type: ignore[type-abstract]
            if adapter.claims(array):
                return adapter
        except Exception as error:
            registry.failing.add(framework.name)
            why = f"the array adapter of framework {framework.name!r} failed: {type(error).__name__}: {error}"
            registry.fail(entry.owner, why, error)
    return None


def adopters() -> Iterator[Callable[[object], ForeignGraph | None]]:
    """The `adopt` of every framework that is imported and has one, by name."""
    for entry in imported_frameworks():
        if entry.item.adopt is not None:
            yield resolve(entry.item.adopt, f"the adopt of framework {entry.item.name!r} from {entry.owner}")


def why_not(backend: Backend) -> str | None:
    """Return why a backend cannot run here, or None; one that raises when it is asked cannot."""
    try:
        return backend.why_not()
    except Exception as error:
        return f"asking it raised {type(error).__name__}: {error}; this is a fault of its plugin"


def described(backend: Backend) -> str:
    """Return what a backend says of the device it runs on, or what went wrong when it was asked."""
    try:
        return str(backend.describe())
    except Exception as error:
        return f"asking it raised {type(error).__name__}: {error}; this is a fault of its plugin"


def refuse_clashing_backend(devices: set[str]) -> None:
    """Raise `PluginError` if a backend that holds these kinds of device is defined twice."""
    for tables in registry.both():
        for name, entries in tables.backends.clashes.items():
            if any(devices <= entry.item.devices for entry in entries):
                tables.backends.get(name)


def instance_of(reference: object, kind: type[T], what: str) -> T:
    """Return the instance of `kind` that a field of a framework holds, or names, or names the class of.

    Raises
    ------
    PluginError
        It is something else, or cannot be imported; `what` says of what, in the message.
    """
    found = resolve(reference, what)
    if isinstance(found, type):
        found = _made(found)
    if not isinstance(found, kind):
        raise PluginError(f"{what} is {found!r}", fix=f"Name a {kind.__name__}, as a class or an instance.")
    return found


@functools.cache
def _made(kind: type) -> object:
    return kind()


def imported_frameworks(*, clashes: bool = False) -> list[Entry]:
    """Return the frameworks that are imported, by name; one defined twice is left out, or refused for `clashes`."""
    entries = {}
    for tables in registry.both():
        entries.update(tables.frameworks.entries)
        for name, defined in tables.frameworks.clashes.items():
            if clashes and any(entry.item.needs in sys.modules for entry in defined):
                tables.frameworks.get(name)
    return [entries[name] for name in sorted(entries) if entries[name].item.needs in sys.modules]


def left_out() -> str:
    """Return a sentence with the plugins that are installed and not in use, or the empty string."""
    states = [f"{status} is {status.state}" for status in registry.statuses if status.state != "ready"]
    return f"Left out: {'; '.join(states)} (eagle plugins says why)." if states else ""


def kinds() -> tuple[NodeKind[Any], ...]:
    """Return every node kind registered, by name."""
    return _items(tables.kinds for tables in registry.both())


def lowerings() -> tuple[Lowering, ...]:
    """Return every lowering registered, by (kind, backend)."""
    return _items(tables.lowerings for tables in registry.both())


def backends() -> tuple[Backend, ...]:
    """Return every backend registered, by name, whether or not it can run here."""
    return _items(tables.backends for tables in registry.both())


def frameworks() -> tuple[Framework, ...]:
    """Return every framework registered, by name, whether or not it is imported."""
    return _items(tables.frameworks for tables in registry.both())


def _items(tables: Iterable[Table[Any, Any]]) -> tuple[Any, ...]:
    merged = {key: entry.item for table in tables for key, entry in table.entries.items()}
    return tuple(merged[key] for key in sorted(merged))
