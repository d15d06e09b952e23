"""What lowerings talk to on the GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from eagle.plugin import Blueprint, ForeignGraph, Guard, LowerContext, Step
from eagle_cuda.adopting import embedded
from eagle_cuda.callers import on_stream
from eagle_cuda.conditions import Conditions
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.ledger import Ledger
from eagle_cuda.steps import (
    BuiltStep,
    CapturedStep,
    CudaStep,
    HostStep,
    NodesStep,
    RepeatStep,
    SequenceStep,
    WhenStep,
    blame,
    cuda_steps,
)

__all__ = ["CudaContext"]


class CudaContext(LowerContext):
    """Makes steps that go into a CUDA graph when the graph is built, after every node has been lowered.

    Attributes
    ----------
    device : int
        The ordinal of the device that all planes are on.
    """

    backend: ClassVar[str] = "gpu"

    def __init__(self, options: Mapping[str, object], blueprint: Blueprint, device: int) -> None:
        super().__init__(options)
        self.device = device
        self.ledger = Ledger()
        self.conditions = Conditions(self.ledger)
        self._blueprints = [(0, blueprint)]  # from the graph's inwards, and how deep in the nesting their nodes are

    def call(self, fn: Callable[[], object], /) -> CudaStep:
        """Capture what `fn` does, with the stream of the capture made current in every framework that is loaded."""

        def record(stream: int) -> None:
            with on_stream(self.device, stream):
                fn()

        return CapturedStep(record)

    def capture(self, fn: Callable[[int], object], /) -> Step:
        """Capture what ``fn(stream)`` does on the stream whose handle it is given."""
        return CapturedStep(fn)

    def nodes(self, add: Callable[[int, Sequence[int]], Sequence[int]], /) -> Step:
        """Add nodes through the driver: ``add(graph, after)`` puts them after these nodes and returns the last ones."""
        return NodesStep(add)

    def built(self, build: Callable[[GraphBuilder, Sequence[int]], Sequence[int]], /) -> Step:
        """Add nodes through the builder of the graph, for eagle's own lowerings."""
        return BuiltStep(build)

    def host(self, fn: Callable[[], object], /, *, stream: int | None = None) -> Step:
        """Have the host run `fn` at every launch, which cuts the graph there.

        Parameters
        ----------
        fn : callable
        stream : int, optional
            The stream its device work goes to: it waits for the stage before, and the next stage for it, and the host
            for nothing. Without it the whole device is waited for before and after.
        """
        return HostStep(fn, stream)

    def child(self, graph: ForeignGraph, /) -> Step:
        """Put a copy of a driver's graph in as one node."""
        return BuiltStep(embedded(graph))

    def body(self, blueprint: Blueprint, /) -> Step:
        """Lower every node of a body, and know of each that it stands there."""
        self._blueprints.append((len(self._nesting), blueprint))
        try:
            return super().body(blueprint)
        finally:
            self._blueprints.pop()

    def sequence(self, blueprint: Blueprint, steps: Sequence[Step], /) -> Step:
        """Join the steps of a body by ``blueprint.before``."""
        return SequenceStep(blueprint, cuda_steps(steps))

    def when(self, guard: Guard, then: Step, /) -> Step:
        """Make an IF node, or have the host decide where the driver has none."""
        (step,) = cuda_steps([then])
        return WhenStep(self.conditions, self.conditions.add(guard, *self.here()), step)

    def repeat(
        self,
        guard: Guard | None,
        body: Step,
        /,
        *,
        limit: int | None = None,
        report: Callable[[int, bool], object] | None = None,
    ) -> Step:
        """Make a WHILE node, or have the host repeat the body where the driver has none."""
        (step,) = cuda_steps([body])
        self.ledger.stoppable |= not self.conditions.by_host
        number = self.conditions.add(guard, *self.here(), report)
        return RepeatStep(self.conditions, number, step, limit)

    def here(self) -> tuple[tuple[int, ...], Callable[[BaseException], None]]:
        """Return where the node being lowered stands, and what blames it: `order` and `blame` of a `Record`."""
        order = tuple(placed.index for placed in self._nesting)
        return order, partial(_note, [(blueprint, order[depth]) for depth, blueprint in reversed(self._blueprints)])


def _note(places: Sequence[tuple[Blueprint, int]], error: BaseException) -> None:
    for blueprint, index in places:
        blame(blueprint, index, error)
