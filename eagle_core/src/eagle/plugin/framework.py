"""What a library of arrays brings: an adapter for its arrays, its streams, a way to adopt graphs it captured."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from eagle.plugin.arrays import ArrayAdapter
from eagle.plugin.stream import Streams

__all__ = ["ForeignGraph", "Framework"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForeignGraph:
    """A graph that another library captured.

    Attributes
    ----------
    backend : str
        The backend that can run it.
    graph : int or callable
        A driver's handle, or a callable without arguments that replays it on the host.
    version : callable
        ``version() -> hashable``, compared before every launch: it differs once the graph was reset or captured anew.
    keep : object
        Keeps it alive.
    """

    backend: str
    graph: int | Callable[[], object]
    version: Callable[[], Hashable]
    keep: object


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Framework:
    """A library of arrays and what eagle needs to know of it. Its parts are asked only once it is imported.

    Attributes
    ----------
    name : str
    needs : str
        The module that must be in ``sys.modules`` before anything of this is used: ``"torch"``.
    arrays : ArrayAdapter, str or None
        The adapter of its arrays; a string names an instance or the class.
    streams : Streams, str or None
        Its streams on a device, for backends that have such; a string names an instance or the class.
    adopt : callable, str or None
        ``adopt(owner) -> ForeignGraph or None``: what `eagle.graph.child` asks. The first answer wins.
    api : str or None
        The plugin's public module, which ``eagle.frameworks.NAME`` is; imported on first use.
    distribution : str or None
        What pip installs the library by, where that is not `needs`.
    """

    name: str
    needs: str
    arrays: ArrayAdapter | str | None = None
    streams: Streams | str | None = None
    adopt: Callable[[object], ForeignGraph | None] | str | None = None
    api: str | None = None
    distribution: str | None = None
