"""``register_node_kind``: a kind of node of the running program, with its two arms, in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from eagle.errors import GraphTypeError, PluginError
from eagle.plugin.blueprint import Placed
from eagle.plugin.lowering import Lowering
from eagle.plugin.nodes import Access, Mode, Node, NodeKind
from eagle.plugin.registry import register, registry

__all__ = ["register_node_kind"]

Planes = Callable[[Node[Any]], Iterable[tuple[str, object, str]]]
Arm = Callable[[Node[Any]], Callable[[], object]]
_ROLES: dict[str, Mode] = {"read": "r", "write": "w", "both": "rw"}


def register_node_kind(
    name: str, *, reads: Planes, writes: Planes, lower_cpu: Arm | None = None, lower_gpu: Arm | None = None
) -> None:
    """Register a kind of node of this program.

    Registering the same kind again is fine, as when a module is reloaded or a notebook cell run twice: definitions
    are compared by module, qualified name and code.

    Parameters
    ----------
    name : str
        What ``Node(name, payload)`` says; not empty.
    reads, writes : callable
        ``reads(node)`` and ``writes(node)`` return tuples ``(plane_name, array, role)``; role is ``"read"``,
        ``"write"`` or ``"both"``. A plane that is in both is read and written.
    lower_cpu : callable, optional
        ``lower_cpu(node)`` returns the callable without arguments that runs on the host.
    lower_gpu : callable, optional
        ``lower_gpu(node)`` returns the callable without arguments that is captured.

    Raises
    ------
    GraphTypeError
        `name` is no string, or one of the callables does not take one node.
    PluginError
        Another kind has this name.
    """
    if not isinstance(name, str) or not name:
        raise GraphTypeError(f"the name of a node kind is a string, not {name!r}")
    _check_signature(name, "reads", reads)
    _check_signature(name, "writes", writes)
    arms = {"cpu": lower_cpu, "gpu": lower_gpu}
    items: list[Any] = [NodeKind(name=name, access=_Access(name, reads, writes))]
    for backend, arm in arms.items():
        if arm is not None:
            _check_signature(name, f"lower_{backend}", arm)
            items.append(Lowering(kind=name, backend=backend, lower=_Lower(name, backend, arm)))
    _check_arms(name, arms)
    register(*items)


class _Access:
    """The access of a kind, from its two callables."""

    def __init__(self, kind: str, reads: Planes, writes: Planes) -> None:
        self.kind, self.reads, self.writes = kind, reads, writes

    def __call__(self, node: Node[Any]) -> Iterable[Access]:
        for what, planes in (("reads", self.reads), ("writes", self.writes)):
            returned = planes(node)
            if not isinstance(returned, Iterable):
                raise PluginError(f"{what} of kind {self.kind!r} returned {returned!r}", fix=_SHAPE)
            for plane in returned:
                yield self._access(what, plane)

    def _access(self, what: str, plane: object) -> Access:
        name, array, role = plane if isinstance(plane, tuple) and len(plane) == 3 else (None, None, None)
        if not isinstance(name, str) or not isinstance(role, str) or role not in _ROLES:
            raise PluginError(f"{what} of kind {self.kind!r} returned {plane!r}", fix=_SHAPE)
        return Access(name=name, array=array, mode=_ROLES[role])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Access) and _same(self, other)

    def __hash__(self) -> int:
        return hash(self.kind)


class _Lower:
    """The lowering of a kind, from its arm."""

    def __init__(self, kind: str, backend: str, arm: Arm) -> None:
        self.kind, self.backend, self.arm = kind, backend, arm

    def __call__(self, placed: Placed[Any], context: Any) -> Callable[[], object]:
        made = self.arm(placed.node)
        if not callable(made) or not _takes(made, 0):
            raise PluginError(
                f"lower_{self.backend} of kind {self.kind!r} returned {made!r}",
                fix="Return a callable without arguments.",
            )
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lower) and _same(self, other)

    def __hash__(self) -> int:
        return hash((self.kind, self.backend))


_SHAPE = 'Return tuples (plane_name, array, role), with role "read", "write" or "both".'


def _same(a: object, b: object) -> bool:
    from eagle.plugin.definitions import same_definition

    return same_definition(vars(a), vars(b))


def _check_arms(kind: str, arms: dict[str, Arm | None]) -> None:
    """Refuse to register a kind again with an arm more or less."""
    if registry.own.kinds.get(kind) is None:
        return
    for backend, arm in arms.items():
        known = registry.own.lowerings.get((kind, backend))
        if (known is None) is not (arm is None):
            raise PluginError(
                f"another kind {kind!r} is registered already",
                why=f"it has {'no ' if known is None else ''}lower_{backend}",
                fix="Choose another name.",
            )


def _check_signature(kind: str, what: str, function: object) -> None:
    if not callable(function):
        raise GraphTypeError(f"{what} of kind {kind!r} is {function!r}", fix="Pass a callable that takes the node.")
    if not _takes(function, 1):
        raise GraphTypeError(
            f"{what} of kind {kind!r} is called with one argument, the node, and {function!r} cannot be"
        )


def _takes(function: Callable[..., object], arguments: int) -> bool:
    """Whether a callable can be called with so many arguments; a builtin may not say."""
    try:
        inspect.signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True
