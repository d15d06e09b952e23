"""How a node is made to run: lowerings, and the context a backend gives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from eagle.errors import BuildError, EagleError, PluginError
from eagle.plugin.blueprint import Blueprint, Placed
from eagle.plugin.guards import Guard
from eagle.plugin.nodes import Node

if TYPE_CHECKING:
    from eagle.plugin.framework import ForeignGraph

__all__ = ["LowerContext", "Lowering", "Step"]


class Step:
    """A piece of a lowered graph. A context makes it, and only its backend looks inside; backends subclass it."""


class LowerContext(ABC):
    """What a lowering talks to while one graph is built for one backend.

    A backend subclasses it and writes `call` and `sequence`, and `when` and `repeat` if it has conditionals and
    loops. A lowering calls these and returns the `Step` they made.

    Parameters
    ----------
    options : mapping
        The options of `Graph.build`.

    Attributes
    ----------
    backend : str
        The backend's name.
    in_body : bool
        Whether the node being lowered stands inside another one.
    options : mapping
    """

    backend: ClassVar[str]

    def __init__(self, options: Mapping[str, object]) -> None:
        self.options = options
        self.in_body = False
        self._kept: list[object] = []
        self._before: list[tuple[int, Callable[[], object]]] = []
        self._after: list[tuple[int, Callable[[], object]]] = []
        self._nesting: list[Placed[Any]] = []
        self._found: dict[str, Callable[[Placed[Any], Any], Any]] = {}  # by kind, once per build

    # what a backend writes ------------------------------------------------------------------------------------------

    @abstractmethod
    def call(self, fn: Callable[[], object], /) -> Step:
        """Make a step of a plain callable: run by the host, or captured, as the backend does it."""

    @abstractmethod
    def sequence(self, blueprint: Blueprint, steps: Sequence[Step], /) -> Step:
        """Make one step of the steps of a body's nodes, which may overlap exactly as ``blueprint.before`` allows."""

    def when(self, guard: Guard, then: Step, /) -> Step:
        """Make a step that runs `then` while the guard is true at that moment."""
        raise BuildError(f"backend {self.backend!r} has no conditionals")

    def repeat(
        self,
        guard: Guard | None,
        body: Step,
        /,
        *,
        limit: int | None = None,
        report: Callable[[int, bool], object] | None = None,
    ) -> Step:
        """Make a step that repeats `body`.

        Parameters
        ----------
        guard : Guard or None
            Read before each iteration; the loop goes on while it is true. None: it always is.
        body : Step
        limit : int, optional
            The most iterations.
        report : callable, optional
            ``report(iterations, hit_limit)``, called after the run; `hit_limit`: only the limit ended the loop.
        """
        raise BuildError(f"backend {self.backend!r} has no loops")

    def child(self, graph: ForeignGraph, /) -> Step:
        """Make a step of a graph that a framework captured: by default, a call of what replays it.

        The graph is kept, and every launch checks that it is as it was: a backend says only how it runs.
        """
        if callable(graph.graph):
            return self.call(graph.graph)
        raise BuildError(
            f"backend {self.backend!r} takes in no graph of a driver",
            fix="Call the model in an opaque.",
        )

    # written once, here ---------------------------------------------------------------------------------------------

    def lower(self, placed: Placed[Any], /) -> Step:
        """Lower one node by the lowering registered for this backend, else by the one for ``"*"``.

        Raises
        ------
        BuildError
            There is none. Whatever a lowering raises gets a note with node, kind and backend.
        """
        self._nesting.append(placed)
        try:
            lower = self._found.get(placed.kind.name)
            if lower is None:
                from eagle.plugin.lookup import lowering_for

                lower = self._found[placed.kind.name] = lowering_for(placed, self.backend)
            made = lower(placed, self)
            if isinstance(made, Step):
                return made
            if callable(made):
                return self.call(made)
            raise PluginError(
                f"the lowering of kind {placed.kind.name!r} for backend {self.backend!r} returned {made!r}",
                fix="Return a Step made by the context, or a callable without arguments.",
                nodes=(placed.label,),
            )
        except Exception as error:
            if isinstance(error, EagleError):
                error.locate(node=placed.label)
            error.add_note(
                f"while lowering node {placed.label!r} (kind {placed.kind.name!r}) for backend {self.backend!r}"
            )
            raise
        finally:
            self._nesting.pop()

    def body(self, blueprint: Blueprint, /) -> Step:
        """Lower every node of a body, with `in_body` true, and join them by `sequence`."""
        outer, self.in_body = self.in_body, True
        try:
            return self.sequence(blueprint, [self.lower(placed) for placed in blueprint.nodes])
        finally:
            self.in_body = outer

    def expand(self, *nodes: Node[Any]) -> Step:
        """Lower `nodes` in place of the one being lowered.

        Raises
        ------
        BuildError
            They touch a plane, or write one, that the node being lowered did not declare.
        """
        from eagle.graph.placing import expansion

        inner = expansion(self._nesting[-1], nodes)
        return self.sequence(inner, [self.lower(placed) for placed in inner.nodes])

    def keep(self, *objects: object) -> None:
        """Keep `objects` alive as long as the executable."""
        self._kept.extend(objects)

    def before_launch(self, check: Callable[[], object], /) -> None:
        """Have `check` called once per launch, before it starts; it raises to refuse the launch."""
        self._before.append((self._nesting[0].index, check))

    def after_run(self, check: Callable[[], object], /) -> None:
        """Have `check` called once the results of a launch are visible; it raises what the work recorded."""
        self._after.append((self._nesting[0].index, check))

    # for the backend's executable -----------------------------------------------------------------------------------

    @property
    def kept(self) -> tuple[object, ...]:
        """Everything lowerings asked to `keep`."""
        return tuple(self._kept)

    @property
    def has_checks(self) -> bool:
        """Whether any lowering asked for a check before or after a launch."""
        return bool(self._before or self._after)

    def check_before(self, blueprint: Blueprint) -> None:
        """Run the checks of `before_launch`; what they raise is blamed on their node of `blueprint`, the graph."""
        _run_checks(self._before, blueprint)

    def check_after(self, blueprint: Blueprint) -> None:
        """Run the checks of `after_run`, likewise."""
        _run_checks(self._after, blueprint)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lowering:
    """How the nodes of one kind run on one backend.

    Attributes
    ----------
    kind : str
    backend : str
        ``"cpu"``, ``"gpu"``, another backend's name, or ``"*"`` for all that have no lowering of their own.
    lower : callable or str
        ``lower(placed, context) -> Step``, or a callable without arguments, which means ``context.call`` of it.
        Called once per node and build. ``"package.module:attribute"`` is imported on first use.
    """

    kind: str
    backend: str
    lower: Callable[[Placed[Any], Any], Step | Callable[[], object]] | str


def _run_checks(checks: Sequence[tuple[int, Callable[[], object]]], blueprint: Blueprint) -> None:
    for index, check in checks:
        try:
            check()
        except BaseException as error:
            blueprint.blame(error, index)
            raise
