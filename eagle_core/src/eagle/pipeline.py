"""``GraphPipeline``: callables recorded one after another, and replayed as one graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, SupportsIndex

from eagle.busy import CallGuard
from eagle.errors import BuildError, GraphError, GraphTypeError
from eagle.graph import Graph
from eagle.graph.items import name_of, node_of_plan
from eagle.graph.opaque import opaque
from eagle.plugin.lookup import backends, why_not
from eagle.plugin.nodes import Node
from eagle.plugin.stream import streams

__all__ = ["GraphPipeline"]


class GraphPipeline:
    """Steps that run one after another, in the order of adding, without a word about the arrays they touch.

    On a GPU `build` records each step once into one device graph, and every launch replays that; what a step launches
    has to go to the current stream of its library, and it may not allocate, synchronise or read back. On the CPU every
    launch calls the steps. Where the steps' arrays are known, `eagle.Graph` does more: it overlaps and checks.

    Every method returns the pipeline. It is for one caller at a time, as a `Graph` is.
    """

    def __init__(self) -> None:
        self._graph = Graph()
        self._graph._guard = CallGuard("GraphPipeline")

    def add(self, fn: Callable[[], object], *, name: str | None = None) -> GraphPipeline:
        """Add one step.

        Parameters
        ----------
        fn : callable
            Called without arguments. A bound plan's ``launch``, or the bound plan, is taken as the plan itself.
        name : str, optional
            Its label in messages.

        Raises
        ------
        GraphTypeError
            It is not callable, needs arguments, or is ``async`` or a generator; or `name` is no string.
        GraphError
            The pipeline is built.
        Busy
            Another call is in flight.
        """
        if isinstance(fn, Node):
            raise GraphTypeError(
                f"GraphPipeline.add takes a callable, and this is a {fn.kind} node", fix="Nodes go into an eagle.Graph."
            )
        self._graph.add_node(_node(fn), name=name_of(name, "name"))
        return self

    def build(self, backend: str | None = None, **options: object) -> GraphPipeline:
        """Make it ready to launch: record it, on a backend that records.

        Parameters
        ----------
        backend : str, optional
            ``"cpu"``, ``"gpu"`` or another installed one. Nothing says where callables work, so without it this is
            the backend that can run here and on whose device an imported library (CuPy, torch, ...) has a stream to
            record from; without such a library it is ``"cpu"``. A bound plan among the steps settles it by its arrays.
        **options
            For the backend.

        Raises
        ------
        GraphError
            The pipeline is empty or built already.
        BuildError
            A step cannot be recorded, or recorded nothing: it is host code, which ``build(backend="cpu")`` runs.
        BackendUnavailable, PlaneError, PluginError, Busy
            As for `Graph.build`. After any error it can be built again.
        """
        graph = self._graph
        if not graph.num_nodes():
            raise GraphError("the pipeline is empty", fix="Add a step first.")
        if backend is None and not any(placed.planes for stage in graph._snapshot() for placed in stage.nodes):
            backend = _recording_backend()
        graph.build(backend, **options)
        return self

    def launch(self, n: SupportsIndex = 1) -> GraphPipeline:
        """Run the steps `n` times and wait for them. Raises as `Graph.launch` does."""
        self._graph.launch(n)
        return self

    def enqueue(self, n: SupportsIndex = 1) -> GraphPipeline:
        """Start `n` runs without waiting for them; on the CPU this is `launch`."""
        self._graph.enqueue(n)
        return self

    def synchronize(self) -> GraphPipeline:
        """Wait for everything enqueued, and raise the first failure."""
        self._graph.synchronize()
        return self

    @property
    def backend(self) -> str | None:
        """The backend it was built for, or None."""
        return self._graph.backend

    @property
    def captures(self) -> int:
        """How many device graphs its build captured: 1 on the GPU, 0 on the CPU and before."""
        return self._graph.captures

    @property
    def graph_builds(self) -> int:
        """How many device graphs its build instantiated."""
        return self._graph.graph_builds

    def node_labels(self) -> tuple[str, ...]:
        """Return the label of every step, in the order of adding."""
        return self._graph.node_labels()

    def __repr__(self) -> str:
        count = self._graph.num_nodes()
        return f"<eagle.GraphPipeline of {count} step{'' if count == 1 else 's'}, backend {self.backend}>"


def _node(fn: Any) -> Node[Any]:
    plan = getattr(fn, "__self__", None) if getattr(fn, "__name__", None) == "launch" else fn
    if (node := node_of_plan(plan)) is not None:
        return node
    node = opaque(fn)
    return Node(node.kind, replace(node.payload, must_record=True))


def _recording_backend() -> str:
    """Return the backend of a device that an imported library could launch on now, else ``"cpu"``."""
    able = [backend for backend in backends() if backend.devices - {"cpu"} and why_not(backend) is None]
    known = streams() if able else {}
    found = [
        backend.name
        for backend in able
        if any(one.current((kind, 0)) is not None for kind in sorted(backend.devices) for one in known.values())
    ]
    if len(found) > 1:
        names = ", ".join(map(repr, found))
        raise BuildError(f"backends {names} can all record this pipeline", fix="Say which: build(backend=...).")
    return found[0] if found else "cpu"
