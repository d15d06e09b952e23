"""What nodes of the core's kinds carry; lowerings read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType

from eagle.errors import BuildError
from eagle.plugin.blueprint import Placed
from eagle.plugin.guards import Guard
from eagle.plugin.kernels import Launch
from eagle.plugin.nodes import Node

if TYPE_CHECKING:
    from eagle.graph.graph import Graph

# Slots and representations are left out: making them takes time at every import of eagle, and nobody prints these.

__all__ = [
    "Child",
    "Conditional",
    "Copy",
    "Opaque",
    "Reduce",
    "RepeatWhile",
    "SampleStep",
    "Skippable",
    "UntilDone",
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Opaque:
    """Any callable without arguments.

    Attributes
    ----------
    fn : callable
    reads, writes : mapping of str to array
        The planes it was declared to touch.
    stream : object
        The stream its device work goes to, on the tier that runs it on the host at every launch; None otherwise.
    eager : bool
        Whether it runs on the host at every launch with a device synchronisation before and after.
    must_record : bool
        Whether a backend that records `fn` refuses it when nothing was recorded: `fn` is host code then, which would
        have run once and never at a launch.
    """

    fn: Callable[[], object]
    reads: Mapping[str, object]
    writes: Mapping[str, object]
    stream: object = None
    eager: bool = False
    must_record: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Child:
    """A graph that a framework captured."""

    owner: object
    reads: Mapping[str, object]
    writes: Mapping[str, object]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Copy:
    """One array into another of the same shape and dtype."""

    src: object
    into: object


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reduce:
    """A 1-D array into one element; `op` is ``"sum"``, ``"max"``, ``"min"``, ``"all"`` or ``"any"``."""

    x: object
    out: object
    op: str

    def refuse_empty(self, placed: Placed[Reduce]) -> None:
        """Raise `BuildError` for the maximum or minimum of no elements. Every lowering of the kind begins so."""
        (x,) = (plane.memory for plane in placed.planes if plane.access.name == "x")
        if self.op in ("max", "min") and x.shape == (0,):
            raise BuildError(
                f"the {self.op} of no elements does not exist",
                fix="Leave the node out.",
                nodes=(placed.label,),
                planes=("x",),
            )


@dataclass(eq=False, repr=False)
class Conditional:
    """What a conditional is in the middle of: the graph it stands in, and what its last run did.

    Attributes
    ----------
    graph : weak reference or None
        The graph it belongs to, as long as that lives.
    iterations : int or None
        How often the body of a loop ran, in the last repetition.
    hit_limit : bool or None
        Whether only the limit ended it.
    """

    graph: ReferenceType[Graph] | None = None
    iterations: int | None = None
    hit_limit: bool | None = None

    def report(self, iterations: int, hit_limit: bool) -> None:
        """Note what a run of the loop did."""
        self.iterations, self.hit_limit = iterations, hit_limit


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Skippable:
    """A step that runs while its guard is true at that moment."""

    guard: Guard
    step: tuple[Node[Any], ...]
    state: Conditional = field(default_factory=Conditional)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RepeatWhile:
    """A step that is repeated while its guard is true, at most `limit` times."""

    guard: Guard
    step: tuple[Node[Any], ...]
    limit: int | None
    state: Conditional = field(default_factory=Conditional)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UntilDone:
    """A launch that is repeated until the kernel's mask is true for every sample.

    Attributes
    ----------
    launch : Launch
        Of a kernel with a mask.
    mask : str
        The mask's name.
    limit : int or None
        The most steps of one sample.
    all_done : array of one bool
        Whether no sample is left.
    steps : array of int64, shape (n,), or None
        Each sample's steps are added to it.
    failed : array of bool, shape (n,), or None
        When given, a sample whose floating-point state turns NaN or infinite ends there, and is marked in it and in the
        mask.
    report : callable
        ``report(steps)``, called after the run with the most steps that a sample took.
    """

    launch: Launch
    mask: str
    limit: int | None
    all_done: object
    steps: object = None
    failed: object = None
    report: Callable[[int], object]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SampleStep:
    """What stands around the step of a loop of several nodes, where steps are counted or states looked at.

    ``begin_step`` notes in ``running`` which samples ``mask`` leaves to run, and adds one to their ``steps``, if those
    are counted. ``end_step`` marks samples of ``running`` whose state is NaN or infinite in ``failed`` and ``mask``;
    states are ``state 0``, ``state 1``, ..., of shape (n,) or (components, n). Masks are bool and steps int64, of shape
    (n,).
    """

    reads: Mapping[str, object]
    writes: Mapping[str, object]
