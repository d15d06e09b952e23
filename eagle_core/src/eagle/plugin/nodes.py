"""What a node is: a kind, a payload, the memory it touches, and what it holds inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from eagle.errors import GraphTypeError

__all__ = ["Access", "Body", "Mode", "Node", "NodeKind"]

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)
Mode: TypeAlias = Literal["r", "w", "rw"]
"""How a node touches a plane: it reads it, writes it, or both."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Access:
    """One array a node touches, a *plane*.

    Attributes
    ----------
    name : str
        The plane's name in messages and pictures.
    array : object
        Anything an array adapter knows.
    mode : {"r", "w", "rw"}
    total : bool
        A promise: every element is written, whatever was there and whatever happens. Only behind it may an earlier
        store be dropped.
    axis : int or None
        A promise: sample ``i`` touches only index ``i`` along this axis. None: any element.
    cells : tuple of int or None
        Only these elements of a 1-D array are touched. None: all of it.
    """

    name: str
    array: object
    mode: Mode
    total: bool = False
    axis: int | None = None
    cells: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node(Generic[P_co]):
    """One node of a graph, before it is added to one: what kind it is and what that kind needs to know.

    Two nodes are equal only when they are the same object. A node may be added to several graphs, and often.

    Parameters
    ----------
    kind : str
        The name of a registered `NodeKind`.
    payload : object
        Whatever the kind's `access` and lowerings read.
    name : str, optional
        Its label, unless a name is given when it is added.

    Raises
    ------
    GraphTypeError
        `kind` or `name` is not a string.
    """

    kind: str
    payload: P_co
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str):
            raise GraphTypeError(f"the kind of a node is a string, not {self.kind!r}")
        if self.name is not None and not isinstance(self.name, str):
            raise GraphTypeError(f"the name of a node is a string, not {self.name!r}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Body:
    """Nodes held by another node: the step of a conditional or a loop, a nested graph.

    Attributes
    ----------
    title : str
        What is drawn on its frame: ``"skip if guard"``.
    nodes : tuple of Node
        Run in this order, or as their memory allows.
    """

    title: str
    nodes: tuple[Node[Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeKind(Generic[P]):
    """A kind of node: which memory its nodes touch. How they run is a `Lowering`, one per backend.

    Attributes
    ----------
    name : str
        A bare name in the core and in scripts; ``"package.kind"`` from a distribution.
    access : callable
        ``access(node) -> iterable of Access``: the node's own planes. Called once, when the node is added. Raises
        `PlaneError` for a payload that cannot be.
    bodies : callable or None
        ``bodies(node) -> iterable of Body``: the nodes it holds. What they touch, the node touches.
    complete_access : bool
        A promise: its nodes touch nothing but the planes `access` declares, so they may run whenever those allow.
        Without it a node keeps its place in the order of adding.
    mixed : bool
        Its nodes may touch planes of several devices, as a copy does.
    """

    name: str
    access: Callable[[Node[P]], Iterable[Access]]
    bodies: Callable[[Node[P]], Iterable[Body]] | None = None
    complete_access: bool = False
    mixed: bool = False
