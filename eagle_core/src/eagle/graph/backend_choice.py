"""Which backend a graph is built for: the one whose devices hold its planes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from eagle.errors import BackendUnavailable, BuildError, GraphError, GraphTypeError
from eagle.plugin.backend import Backend
from eagle.plugin.blueprint import Placed
from eagle.plugin.lookup import backend_named, backends, no_backend, refuse_clashing_backend, why_not
from eagle.plugin.suggestions import did_you_mean

__all__ = ["DISTRIBUTIONS", "choose_backend"]


class _Known(NamedTuple):
    distribution: str
    devices: frozenset[str]


DISTRIBUTIONS = {
    "cpu": _Known("eagle-cpu", frozenset({"cpu"})),
    "gpu": _Known("eagle-cuda", frozenset({"cuda"})),
}
"""The backends this project ships beside the core, for hints; installed or not, they are found like any other."""


class _Home(NamedTuple):
    """A device some plane is on, and the plane."""

    device: str
    node: str
    plane: str

    def __str__(self) -> str:
        return f"plane {self.plane!r} of node {self.node!r} is in {_words(self.device)} memory"


def choose_backend(nodes: Sequence[Placed[Any]], asked: object) -> Backend:
    """Return the one available backend whose devices hold all planes.

    Nodes that may touch several devices (copies) have no say unless there are no others; then their device planes
    have it. A graph without planes runs on ``"cpu"``.

    Parameters
    ----------
    nodes : sequence of Placed
    asked : str or None
        What ``build(backend=)`` was given.

    Raises
    ------
    GraphError
        The planes are on devices that no one backend holds, or `asked` disagrees with them.
    BackendUnavailable
        No backend for them is installed and can run here.
    BuildError
        Several can, and `asked` is None.
    """
    if asked is not None and not isinstance(asked, str):
        raise GraphTypeError(f"backend is a string such as 'cpu' or 'gpu', not {asked!r}")
    homes = _homes(nodes)
    if asked is not None:
        return _stated(asked, homes)
    if not homes:
        return _stated("cpu", homes)
    needed = set(homes)
    holding = [backend for backend in backends() if needed <= backend.devices]
    reasons = {backend.name: why_not(backend) for backend in holding}
    able = [backend for backend in holding if reasons[backend.name] is None]
    if len(able) == 1:
        return able[0]
    if able:
        names = ", ".join(repr(backend.name) for backend in able)
        raise BuildError(f"backends {names} can all run this graph", fix="Say which: build(backend=...).")
    refuse_clashing_backend(needed)
    if holding:
        why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise no_backend(f"no backend can run this graph here, whose planes are in {_list(needed)} memory", why=why)
    if len(needed) > 1:
        raise _mixed(homes)
    (device,) = needed
    raise no_backend(
        f"no installed backend holds {_words(device)} memory", why=str(homes[device]), fix=_install(device)
    )


def _stated(name: str, homes: dict[str, _Home]) -> Backend:
    backend = backend_named(name)
    devices = backend.devices if backend else DISTRIBUTIONS[name].devices if name in DISTRIBUTIONS else None
    strangers = [home for device, home in homes.items() if devices is not None and device not in devices]
    if strangers:
        if len(homes) > 1 and len(strangers) < len(homes):
            raise _mixed(homes)
        raise GraphError(
            f"backend {name!r} disagrees with where the planes live: {strangers[0]}",
            fix="Leave backend= out, or give the graph arrays of that device.",
            nodes=(strangers[0].node,),
            planes=(strangers[0].plane,),
        )
    if backend is None:
        raise _unknown(name)
    if (reason := why_not(backend)) is not None:
        raise BackendUnavailable(f"backend {name!r} cannot run here", why=reason)
    return backend


def _unknown(name: str) -> BackendUnavailable:
    if name in DISTRIBUTIONS:
        return no_backend(
            f"backend {name!r} is not installed", fix=f"Install the distribution {DISTRIBUTIONS[name].distribution}."
        )
    installed = [backend.name for backend in backends()]
    hint = did_you_mean(name, {*installed, *DISTRIBUTIONS})
    return no_backend(f"there is no backend {name!r}", fix=hint or f"Installed: {', '.join(installed) or 'none'}.")


def _mixed(homes: dict[str, _Home]) -> GraphError:
    one, other = list(homes.values())[:2]
    return GraphError(
        f"the graph mixes memory of several devices: {one}, and {other}",
        fix="Keep a graph's planes on one device; eagle.copy is the node that may cross.",
        nodes=(one.node, other.node),
        planes=(one.plane, other.plane),
    )


def _homes(nodes: Sequence[Placed[Any]]) -> dict[str, _Home]:
    """Return the devices with a say, each with the first plane on it, in the order of adding."""
    for mixed_too in (False, True):
        homes: dict[str, _Home] = {}
        for label, planes in _planes(nodes, mixed_too):
            for plane in planes:
                device = plane.memory.device[0]
                homes.setdefault(device, _Home(device, label, plane.access.name))
        if homes:
            break
    if mixed_too and len(homes) > 1:
        homes.pop("cpu", None)
    return homes


def _planes(nodes: Iterable[Placed[Any]], mixed_too: bool) -> Iterator[tuple[str, Sequence[Any]]]:
    for placed in nodes:
        if placed.bodies:
            inherited = {id(plane.access.array) for body in placed.bodies for p in body.nodes for plane in p.planes}
            own = [plane for plane in placed.planes if id(plane.access.array) not in inherited]
            yield placed.label, own
            for body in placed.bodies:
                yield from _planes(body.nodes, mixed_too)
        elif mixed_too or not placed.kind.mixed:
            yield placed.label, placed.planes


def _install(device: str) -> str:
    for known in DISTRIBUTIONS.values():
        if device in known.devices:
            return f"Install the distribution {known.distribution}."
    return "Install a plugin that brings a backend for it."


def _words(device: str) -> str:
    return {"cpu": "host", "cuda": "CUDA device"}.get(device, repr(device))


def _list(devices: Iterable[str]) -> str:
    return " and ".join(_words(device) for device in sorted(devices))
