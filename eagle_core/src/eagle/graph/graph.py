"""``Graph``: one step of a computation, written down once and run."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from operator import index as as_index
from sys import maxsize
from typing import Any, SupportsIndex

from eagle.access import Edge, edges, reduced_edges
from eagle.busy import CallGuard
from eagle.errors import BuildError, GraphError, GraphTypeError, PluginError
from eagle.graph.backend_choice import choose_backend
from eagle.graph.claims import claim, note_launches, release
from eagle.graph.examining import Examining
from eagle.graph.freezing import frozen
from eagle.graph.items import branch_of, name_of, node_of_plan
from eagle.graph.labels import Labels
from eagle.graph.looking import Looking
from eagle.graph.placing import default_label, place
from eagle.graph.stage import Stage
from eagle.plugin.backend import Backend, Executable
from eagle.plugin.blueprint import Blueprint, Placed
from eagle.plugin.counters import Tally
from eagle.plugin.counters import count as add_to_counter
from eagle.plugin.nodes import Node

__all__ = ["Graph", "repetitions"]


class Graph(Looking, Examining):
    """One step of a computation, as nodes over arrays.

    Add nodes, never edges: which arrays each node touches decides what waits for what. `build` checks and lowers the
    graph for the device its arrays are on, `launch` runs it. Every method that changes something returns the graph.

    One graph is for one caller at a time: a second thread that enters while a call is in flight gets `Busy` at once.
    Looking (`edges`, the pictures, the properties) is always allowed. Distinct graphs run side by side.
    """

    def __init__(self) -> None:
        self._stages: list[Stage] = []
        self._labels = Labels()
        self._guard = CallGuard("Graph")
        self._tally = Tally()
        self._executable: Executable | None = None
        self._backend: str | None = None
        self._built_as: tuple[Backend, Mapping[str, object], Executable] | None = None
        self._close: weakref.finalize[..., Graph] | None = None
        weakref.finalize(self, self._tally.retire)

    # adding -----------------------------------------------------------------------------------------------------------

    def add(self, bound: object, *, name: str | None = None) -> Graph:
        """Add one plan launch.

        Parameters
        ----------
        bound : bound plan
            What ``plan.bind(...)`` returns, or anything else with ``__eagle_node__``.
        name : str, optional
            Its label.

        Raises
        ------
        GraphTypeError
            It is no bound plan; a node goes to `add_node`.
        GraphError, PlaneError, Busy
            As for `add_node`.
        """
        if isinstance(bound, Node):
            raise GraphTypeError(f"add takes a bound plan, and this is a {bound.kind} node", fix="Use add_node(node).")
        node = node_of_plan(bound)
        if node is None:
            raise GraphTypeError(
                f"add takes a bound plan, not {bound!r}",
                fix="Wrap a callable as add_node(opaque(fn, reads=..., writes=...))."
                if callable(bound)
                else "Bind a plan first: add(plan.bind(...)).",
            )
        return self._add([[node]], [name_of(name, "name")])

    def add_node(self, node: Node[Any], *, name: str | None = None) -> Graph:
        """Add one node: an opaque one, a conditional, a reduction, a copy, or of a registered kind.

        Parameters
        ----------
        node : Node
        name : str, optional
            Its label. Without one it is the node's own, or its kind; a label that is taken gets a suffix.

        Raises
        ------
        GraphTypeError
            It is no node, or `name` no string.
        GraphError
            The graph is built, there is no such kind, or a conditional is in a graph already.
        PlaneError
            An array that cannot be used as the node wants to. The graph is as before.
        Busy
            Another call is in flight.
        """
        if not isinstance(node, Node):
            raise GraphTypeError(
                f"add_node takes a node, not {node!r}",
                fix="Use add(bound) for a bound plan."
                if node_of_plan(node) is not None
                else "Wrap it: eagle.graph.opaque(fn, reads=..., writes=...).",
            )
        return self._add([[node]], [name_of(name, "name")])

    def add_group(self, branches: Iterable[object], *, names: Iterable[str] | None = None) -> Graph:
        """Add a stage whose branches may run at the same time; the next stage waits for all of them.

        Parameters
        ----------
        branches : iterable
            Two or more; each a bound plan, a node, or a list of them, which run in order.
        names : iterable of str, optional
            One per branch: the label of a branch of one node, the title of a longer one.

        Raises
        ------
        GraphTypeError
            A branch holds something else, or names are no strings.
        GraphError
            Fewer than two branches, another number of names, or as for `add_node`. Branches that would race are
            refused by `build`.
        PlaneError, Busy
            As for `add_node`.
        """
        if isinstance(branches, (str, Node)) or not isinstance(branches, Iterable):
            raise GraphTypeError(f"add_group takes a list of branches, not {branches!r}")
        nodes = [branch_of(branch, number) for number, branch in enumerate(branches)]
        if len(nodes) < 2:
            raise GraphError(
                f"a group has two branches or more, and this one has {len(nodes)}",
                fix="Add a single branch with add or add_node.",
            )
        return self._add(nodes, _branch_names(names, len(nodes)))

    # building and running ---------------------------------------------------------------------------------------------

    def build(self, backend: str | None = None, **options: object) -> Graph:
        """Check the graph and lower it for the backend its planes call for. A graph is built once.

        Parameters
        ----------
        backend : str, optional
            ``"cpu"``, ``"gpu"`` or another installed one. It cannot move arrays: it must agree with where they are.
        **options
            For the backend, which refuses those it does not know.

        Raises
        ------
        GraphError
            The graph is empty or built already, mixes devices, or `backend` disagrees with its planes.
        RaceError
            Two branches of a group race.
        PlaneError
            An array moved since it was added.
        BuildError
            A node has no lowering for the backend, or the backend refuses it.
        BackendUnavailable
            No backend for the graph is installed and able to run here.
        Busy
            Another call is in flight.
        """
        return self._guard.hold(lambda: self._build(backend, options))

    def launch(self, n: SupportsIndex = 1) -> Graph:
        """Run the graph `n` times and wait for it.

        Parameters
        ----------
        n : int
            At least 0.

        Raises
        ------
        BuildError
            The graph is not built.
        GraphError
            `n` is negative.
        PlaneError
            An array moved, where native or device work would touch it.
        Busy
            Another call is in flight, or this one comes from inside a node of the graph.
        Exception
            Whatever a node raised, with a note that names it. Nothing after it ran, and the graph can be launched
            again.
        """
        held, token = self._guard.held, object()
        try:  # what CallGuard.hold does, without the cost of a call
            if held.setdefault(0, token) is not token:
                raise self._guard.busy()
            executable = self._executable
            if executable is None:
                raise _not_built()
            count = n if type(n) is int and 0 <= n <= maxsize else repetitions(n)
            executable.enqueue(count)
            executable.synchronize()
            self._tally.launches += count
        finally:
            if held and held[0] is token:
                del held[0]
        return self

    def enqueue(self, n: SupportsIndex = 1) -> Graph:
        """Start `n` runs without waiting for them; on the CPU this is `launch`. Raises as `launch` does."""
        return self._guard.hold(lambda: self._enqueue(repetitions(n)))

    def synchronize(self) -> Graph:
        """Wait for everything enqueued, and raise the first failure. Raises as `launch` does."""
        self._guard.hold(lambda: self._built().synchronize())
        return self

    # looking ----------------------------------------------------------------------------------------------------------

    def edges(self, *, reduced: bool = False) -> tuple[Edge, ...]:
        """Return why nodes wait for each other, built or not.

        Parameters
        ----------
        reduced : bool
            Only the fewest pairs of nodes that give the same ordering, with all their hazards.

        Returns
        -------
        tuple of Edge
            Every hazard between two nodes that are not siblings, once per kind and plane of the earlier node, ordered
            by (src, dst), then RAW, WAR, WAW, then the earlier node's order of declaration.
        """
        stages = self._snapshot()
        nodes = [placed for stage in stages for placed in stage.nodes]
        return (reduced_edges if reduced else edges)(nodes, [stage.indices for stage in stages])

    def node_labels(self) -> tuple[str, ...]:
        """Return the label of every node, in the order of adding; a conditional is one node."""
        return tuple(placed.label for stage in self._snapshot() for placed in stage.nodes)

    def num_nodes(self) -> int:
        """Return how many nodes there are."""
        return sum(len(branch) for stage in self._snapshot() for branch in stage.branches)

    @property
    def schedule(self) -> tuple[str, ...]:
        """How each stage runs, one word each; empty before the build."""
        return self._executable.schedule if self._executable is not None else ()

    def fusion(self) -> str:
        """Return what the build decided beside the schedule, a line each: what runs fused or tile by tile, and why not.

        It is empty where the backend decides nothing of the kind. `BuildError` before the build.
        """
        return "\n".join(self._built().notes())

    @property
    def backend(self) -> str | None:
        """The backend it was built for, or None."""
        return self._backend

    @property
    def captures(self) -> int:
        """How many device graphs its build captured; 0 on the CPU."""
        return self._executable.counters.get("captures", 0) if self._executable is not None else 0

    @property
    def graph_builds(self) -> int:
        """How many device graphs its build instantiated; 0 on the CPU."""
        return self._executable.counters.get("graph_builds", 0) if self._executable is not None else 0

    def __repr__(self) -> str:
        count = self.num_nodes()
        return f"<eagle.Graph of {count} node{'' if count == 1 else 's'}, backend {self._backend}>"

    # inside -----------------------------------------------------------------------------------------------------------

    def _add(self, branches: Sequence[Sequence[Node[Any]]], names: Sequence[str | None]) -> Graph:
        """Place the nodes of one stage and take it in, whole or not at all."""

        def add() -> Graph:
            if self._executable is not None:
                raise GraphError("the graph is built, and nothing can be added to it", fix="Make a new graph.")
            stage = self._place(branches, names)
            claimed = claim(self, stage.nodes)
            try:
                self._labels.commit()
                note_launches(self, stage.nodes)
                self._stages.append(stage)
            except BaseException:
                release(claimed)
                raise
            return self

        return self._guard.hold(add)

    def _place(self, branches: Sequence[Sequence[Node[Any]]], names: Sequence[str | None]) -> Stage:
        """Make a stage of nodes at their places; the graph is not changed."""
        single = [len(branch) == 1 for branch in branches]
        wanted = [
            name if name and alone else default_label(node)
            for branch, name, alone in zip(branches, names, single, strict=True)
            for node in branch
        ]
        labels = iter(enumerate(self._labels.reserve(wanted), self._stages[-1].end if self._stages else 0))

        def placed(node: Node[Any]) -> Placed[Any]:
            index, label = next(labels)
            return place(node, index=index, label=label)

        return Stage(
            branches=tuple(tuple(map(placed, branch)) for branch in branches),
            titles=tuple(None if alone else name for name, alone in zip(names, single, strict=True)),
        )

    def _build(self, backend: str | None, options: dict[str, object]) -> Graph:
        if self._executable is not None:
            raise GraphError("the graph is built already", fix="A graph is built once; make a new one.")
        if not self._stages:
            raise GraphError("the graph is empty", fix="Add a node first.")
        blueprint = frozen(self._stages)
        chosen = choose_backend(blueprint.nodes, backend)
        blueprint.recheck()
        executable = chosen.compile(blueprint, options)
        if not isinstance(executable, Executable):
            raise PluginError(
                f"backend {chosen.name!r} compiled the graph to {executable!r}", fix="Return an Executable."
            )
        self._adopt(executable, chosen, options)
        return self

    def _enqueue(self, count: int) -> Graph:
        self._built().enqueue(count)
        self._tally.launches += count
        return self

    def _adopt(self, executable: Executable, backend: Backend, options: Mapping[str, object]) -> None:
        """Make the graph a built one."""
        for name, by in executable.counters.items():
            add_to_counter(name, by)
        if type(executable).close is not Executable.close:
            # The finalizer keeps the executable, and all that its nodes hold, from being collected as part of a cycle.
            self._close = weakref.finalize(self, executable.close)
        self._backend, self._executable = backend.name, executable
        self._built_as = backend, options, executable

    def _rebind(self, stages: list[Stage], blueprint: Blueprint, changed: tuple[int, ...]) -> None:
        """Hold other launches from now on."""
        if self._built_as is not None:
            backend, options, executable = self._built_as
            if not executable.rebind(blueprint, changed):
                fresh, close = backend.compile(blueprint, options), self._close
                self._close = None
                self._adopt(fresh, backend, options)
                if close is not None:
                    close()
        self._stages = stages

    def _built(self) -> Executable:
        if self._executable is None:
            raise _not_built()
        return self._executable

    def _snapshot(self) -> tuple[Stage, ...]:
        """Return the stages as they are now, while another thread may be adding."""
        return tuple(self._stages)


def _branch_names(names: object, branches: int) -> list[str | None]:
    if names is None:
        return [None] * branches
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise GraphTypeError(f"names holds one string per branch, and is {names!r}", fix="Write names=['left', ...].")
    checked = [name_of("" if name is None else name, "a name in names") for name in names]
    if len(checked) != branches:
        raise GraphError(f"the group has {branches} branches and {len(checked)} names", fix="Give one name per branch.")
    return checked


def repetitions(n: object) -> int:
    """Return `n` as the number of runs it has to be: a whole one from 0 on."""
    try:
        count = as_index(n)  # type: ignore[arg-type]
    except TypeError:
        raise GraphTypeError(f"n is a number of repetitions, not {n!r}") from None
    if count < 0:
        raise GraphError(f"n is {count}", fix="Give 0 or more repetitions.")
    if count > maxsize:
        raise GraphError(f"n is {count}", fix=f"Give at most {maxsize} repetitions.")
    return count


def _not_built() -> BuildError:
    return BuildError("the graph is not built", fix="Call build() first.")
