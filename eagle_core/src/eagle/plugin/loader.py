"""Finding plugins and asking each for what it brings, so that a broken one harms no other."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any

import pluggy

from eagle.errors import PluginError
from eagle.plugin.contract import CONTRACT, GROUP, PROJECT
from eagle.plugin.hookspecs import HOOKS, HookSpecs
from eagle.plugin.nodes import NodeKind
from eagle.plugin.status import PluginStatus
from eagle.plugin.suggestions import did_you_mean
from eagle.plugin.validation import check_item

__all__ = ["Candidate", "Found", "Switches", "candidates", "find", "load"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entry point, before anything of it is imported.

    Attributes
    ----------
    name, distribution, version : str
    package : str
        The top-level package its kinds are named after.
    load : callable
        Imports the hooks module and returns it.
    group : str
    """

    name: str
    distribution: str
    version: str
    package: str
    load: Callable[[], object]
    group: str = GROUP


@dataclass(slots=True, kw_only=True)
class Found:
    """What one candidate came to: its status, and what its hooks returned, by hook."""

    status: PluginStatus
    brought: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Switches:
    """The environment variables that decide what is loaded.

    ``EAGLE_PLUGINS=a,b`` loads only these, ``EAGLE_DISABLE_PLUGINS=a,b`` none of these, by name; both before
    anything is imported. ``EAGLE_STRICT_PLUGINS=1`` makes every problem an error at once.
    """

    only: frozenset[str] | None
    without: frozenset[str]
    strict: bool

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> Switches:
        """Return the switches as the environment has them now."""

        def names(variable: str) -> frozenset[str]:
            return frozenset(filter(None, (name.strip() for name in environ.get(variable, "").split(","))))

        return cls(
            names("EAGLE_PLUGINS") if environ.get("EAGLE_PLUGINS", "").strip() else None,
            names("EAGLE_DISABLE_PLUGINS"),
            environ.get("EAGLE_STRICT_PLUGINS", "") not in ("", "0"),
        )

    def blocked(self, name: str) -> str:
        """Say which variable leaves `name` out, or nothing."""
        if name in self.without:
            return f"EAGLE_DISABLE_PLUGINS names {name!r}"
        if self.only is not None and name not in self.only:
            return f"EAGLE_PLUGINS does not name {name!r}"
        return ""


def candidates() -> list[Candidate]:
    """Return the entry points of every ``eagle.v<major>`` group, by (name, distribution), each once."""
    found: dict[tuple[str, str, str, str], Candidate] = {}
    listed = metadata.entry_points()
    groups = [group for group in listed.groups if re.fullmatch(r"eagle\.v\d+", group)]
    for entry in (entry for group in groups for entry in listed.select(group=group)):
        distribution = entry.dist.name if entry.dist is not None else "unknown"
        version = entry.dist.version if entry.dist is not None else "unknown"
        found.setdefault(
            (entry.name, distribution, entry.group, entry.value),
            Candidate(
                name=entry.name,
                distribution=distribution,
                version=version,
                package=entry.value.split(":")[0].split(".")[0],
                load=entry.load,
                group=entry.group,
            ),
        )
    return [found[key] for key in sorted(found)]


def find(those: Iterable[Candidate], switches: Switches) -> list[Found]:
    """Load every candidate that may be, and say of each what became of it."""
    those = list(those)
    ours = {(one.name, one.distribution) for one in those if one.group == GROUP}
    # A distribution may serve several contracts; what it offers to another one is no concern of ours then.
    those = [one for one in those if one.group == GROUP or (one.name, one.distribution) not in ours]
    listed = Counter(one.name for one in those if one.group == GROUP)
    return [_consider(one, those, listed[one.name] > 1, switches) for one in those]


def load(candidate: Candidate) -> Found:
    """Import a candidate's hooks module and call its hooks.

    Raises
    ------
    PluginError
        It states no contract version, or has hooks that cannot be.
    Exception
        Whatever importing it or calling a hook raised.
    """
    module = candidate.load()
    status = PluginStatus(
        name=candidate.name,
        distribution=candidate.distribution,
        version=candidate.version,
        file=getattr(module, "__file__", None) or getattr(_module_of(module), "__file__", None),
        contract=_contract(module),
    )
    assert status.contract is not None
    if status.contract[0] != CONTRACT[0] or status.contract[1] > CONTRACT[1]:
        return Found(status=replace(status, state="incompatible", why=_other_contract(status.contract)))
    hooks = _hooks(module)
    brought = {name: [item for hook in those for item in _items(name, hook)] for name, those in hooks.items()}
    for kind in brought.get("register_node_kind", ()):
        _check_kind_name(kind, candidate)
    return Found(status=replace(status, hooks=tuple(hooks)), brought=brought)


def _consider(candidate: Candidate, those: list[Candidate], shared: bool, switches: Switches) -> Found:
    status = PluginStatus(name=candidate.name, distribution=candidate.distribution, version=candidate.version)
    if reason := switches.blocked(candidate.name):
        return Found(status=replace(status, state="blocked", why=reason))
    if candidate.group != GROUP:
        major = int(candidate.group.removeprefix("eagle.v"))
        return Found(status=replace(status, state="incompatible", why=_other_contract((major, None))))
    if shared:
        others = sorted({one.distribution for one in those if one.name == candidate.name and one.group == GROUP})
        return Found(
            status=replace(
                status,
                state="clash",
                why=f"the plugin name {candidate.name!r} is listed more than once, by {', '.join(others)}; "
                f"uninstall one of them",
            )
        )
    try:
        return load(candidate)
    except (Exception, SystemExit) as error:
        why = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        return Found(status=replace(status, state="broken", why=why, exception=error))


def _module_of(plugin: object) -> object:
    return sys.modules.get(getattr(plugin, "__module__", None) or "")


def _contract(module: object) -> tuple[int, int]:
    stated = getattr(module, "EAGLE_CONTRACT", getattr(_module_of(module), "EAGLE_CONTRACT", None))
    if (
        isinstance(stated, tuple)
        and len(stated) == 2
        and all(isinstance(part, int) and not isinstance(part, bool) for part in stated)
    ):
        return stated
    raise PluginError(
        "its hooks module does not state the contract version it was written against"
        if stated is None
        else f"its hooks module states EAGLE_CONTRACT = {stated!r}, which is not two integers",
        fix=f"Add the line EAGLE_CONTRACT = {CONTRACT} to it, with the version it was written against.",
    )


def _other_contract(contract: tuple[int, int | None]) -> str:
    theirs = ".".join(str(part) for part in contract if part is not None)
    ours = ".".join(map(str, CONTRACT))
    newer = tuple(part or 0 for part in contract) > CONTRACT
    update = "update eagle-core" if newer else "update the plugin"
    return f"it was written against contract {theirs} and this eagle offers {ours}; {update}"


def _hooks(module: object) -> dict[str, list[Callable[[], object]]]:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(HookSpecs)
    try:
        manager.register(module)
    except pluggy.PluginValidationError as error:
        raise PluginError("a hook takes arguments", why=str(error).splitlines()[0], fix="Hooks take none.") from error
    callers = manager.get_hookcallers(module) or []
    for caller in callers:
        if not caller.has_spec():
            hint = did_you_mean(caller.name, HOOKS)
            raise PluginError(f"there is no hook called {caller.name!r}", fix=hint or f"There are {', '.join(HOOKS)}.")
    hooks = {caller.name: [impl.function for impl in caller.get_hookimpls()] for caller in callers}
    for name in HOOKS:
        if name not in hooks and callable(getattr(module, name, None)):
            raise PluginError(f"{name} is not marked as a hook", fix="Put @eagle.plugin.hookimpl above it.")
    if not hooks:
        raise PluginError("it has no hooks", fix=f"Write one of {', '.join(HOOKS)} under @eagle.plugin.hookimpl.")
    return {name: hooks[name] for name in HOOKS if name in hooks}


def _items(name: str, hook: Callable[[], object]) -> list[Any]:
    expected = HOOKS[name]
    returned = hook()
    if returned is None:
        return []
    items = [returned] if isinstance(returned, expected) or not isinstance(returned, Iterable) else list(returned)
    for item in items:
        if not isinstance(item, expected):
            raise PluginError(
                f"{name} returned {item!r}", fix=f"Return a {expected.__name__} or an iterable of them, as instances."
            )
        check_item(item)
    return items


def _check_kind_name(kind: NodeKind[Any], candidate: Candidate) -> None:
    prefix = candidate.package + "."
    if not kind.name.startswith(prefix) or kind.name == prefix:
        raise PluginError(
            f"it brings a node kind called {kind.name!r}",
            why="bare names belong to the core and to scripts",
            fix=f"Call it {prefix + kind.name.rpartition('.')[2]!r}.",
        )
