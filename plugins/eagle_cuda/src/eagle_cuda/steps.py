"""What lowerings make on the GPU: steps that add their part to a graph once it is built."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from eagle.plugin import Blueprint, BuildError, EagleError, Step
from eagle_cuda.capturing import capture
from eagle_cuda.conditions import Conditions
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.script import Script

__all__ = ["CudaStep", "HostStep", "add_nodes", "blame", "cuda_steps", "lay_out_nodes"]


class CudaStep(Step):
    """A piece of a graph, not yet in it.

    Attributes
    ----------
    by_host : bool
        Whether the host decides between launches what runs of it, so that it cannot be in one graph.
    """

    by_host = False

    def lay_out(self, script: Script) -> None:
        """Put it into what a run is made of."""
        script.take(self.add)

    @abstractmethod
    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add its nodes after these, and return the last ones: `after` itself when there are none."""


class CapturedStep(CudaStep):
    """Code that is recorded on the stream it is given."""

    def __init__(self, record: Callable[[int], object]) -> None:
        self._record = record

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Capture it."""
        return capture(builder, self._record, after)


class NodesStep(CudaStep):
    """Nodes that a lowering adds through the driver itself."""

    def __init__(self, nodes: Callable[[int, Sequence[int]], Sequence[int]]) -> None:
        self._nodes = nodes

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add them."""
        return builder.given(self._nodes, after)


class BuiltStep(CudaStep):
    """Nodes that one of eagle's own lowerings adds through the builder."""

    def __init__(self, build: Callable[[GraphBuilder, Sequence[int]], Sequence[int]]) -> None:
        self._build = build

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add them."""
        return self._build(builder, after)


class HostStep(CudaStep):
    """Code that the host runs at every launch, between two graphs.

    Attributes
    ----------
    fn : callable
    stream : int or None
        The stream its device work goes to; None: any, with the whole device waited for before and after.
    """

    def __init__(self, fn: Callable[[], object], stream: int | None) -> None:
        self.fn = fn
        self.stream = stream

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Refuse: a graph on the device cannot wait for the host."""
        tier = "eager=True" if self.stream is None else "stream="
        where = "inside a conditional or a loop" if builder.in_body else "inside a group or another node"
        raise BuildError(
            f"a node with {tier} cannot stand {where} on the GPU",
            why="its code runs on the host at every launch, and the device does not wait for the host there",
            fix="Make it a captured opaque, or a stage of its own.",
        )


class SequenceStep(CudaStep):
    """The nodes of a body, in the order their blueprint asks for."""

    def __init__(self, blueprint: Blueprint, steps: Sequence[CudaStep]) -> None:
        self.blueprint = blueprint
        self.steps = steps
        self.by_host = any(step.by_host for step in steps)

    def lay_out(self, script: Script) -> None:
        """Put it in whole, or one after another what the host decides about."""
        if self.by_host:
            lay_out_nodes(script, self.blueprint, self.steps, range(len(self.steps)))
        else:
            super().lay_out(script)

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add them."""
        return add_nodes(builder, self.blueprint, self.steps, range(len(self.steps)), after)


class WhenStep(CudaStep):
    """A step that runs while its guard is true at that moment."""

    def __init__(self, conditions: Conditions, number: int, then: CudaStep) -> None:
        self._conditions, self._number, self._then = conditions, number, then
        self.by_host = conditions.by_host

    def lay_out(self, script: Script) -> None:
        """Put in the kernel that looks at the guard, and what the host runs or not."""
        if not self.by_host:
            super().lay_out(script)
            return
        script.take(lambda builder, after: [self._conditions.decide(builder, self._number, None, after)])
        script.close()
        body = script.inside()
        self._then.lay_out(body)
        script.choose(body, loop=False)

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add the kernel that decides, and the conditional node right behind it."""
        condition = builder.condition()
        decided = self._conditions.decide(builder, self._number, condition, after)
        node, body = builder.conditional(condition, [decided], loop=False)
        self._then.add(body, [])
        return [node]


class RepeatStep(CudaStep):
    """A step that is repeated while its guard is true."""

    def __init__(self, conditions: Conditions, number: int, body: CudaStep, limit: int | None) -> None:
        self._conditions, self._number, self._body, self._limit = conditions, number, body, limit
        self.by_host = conditions.by_host

    def lay_out(self, script: Script) -> None:
        """Put in the kernel that enters the loop, and what the host repeats, which looks last whether to go on.

        The host looks after every iteration: captured code and copies do their work whether or not it is wanted, and
        a sample that faults ends the loop with that step. So no iteration may be queued before it is known to be due.
        """
        if not self.by_host:
            super().lay_out(script)
            return
        decide = partial(self._decide, condition=None, around=script.around)
        script.take(lambda builder, after: [decide(builder, after=after, again=False)])
        script.close()
        body = script.inside(around=self._conditions.failed(self._number))
        self._body.lay_out(body)
        body.take(lambda builder, after: [decide(builder, after=after, again=True)])
        script.choose(body, loop=True)

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add the kernel that enters the loop, and the loop, which decides last in its body whether to go on."""
        condition = builder.condition()
        entered = self._decide(builder, condition, after, around=builder.around, again=False)
        node, body = builder.conditional(condition, [entered], loop=True)
        body.around = self._conditions.failed(self._number)
        self._decide(body, condition, self._body.add(body, []), around=builder.around, again=True)
        return [node]

    def _decide(self, builder: GraphBuilder, condition: Any, after: Sequence[int], *, around: int, again: bool) -> int:
        return self._conditions.loop(builder, self._number, condition, self._limit, after, around=around, again=again)


def cuda_steps(steps: Iterable[Step]) -> list[CudaStep]:
    """Return the steps, all of this backend's.

    Raises
    ------
    BuildError
        One was made by something else.
    """
    checked = []
    for step in steps:
        if not isinstance(step, CudaStep):
            raise BuildError(f"{step!r} is no step of backend 'gpu'", fix="Return what the context makes.")
        checked.append(step)
    return checked


def add_nodes(
    builder: GraphBuilder, blueprint: Blueprint, steps: Sequence[CudaStep], indices: Sequence[int], after: Sequence[int]
) -> Sequence[int]:
    """Add some nodes of a blueprint, each after those of them it must wait for, and return the last ones."""
    tails: dict[int, Sequence[int]] = {}
    last = dict.fromkeys(indices)
    for index in indices:
        waits = [one for one in blueprint.before[index] if one in tails]
        for one in waits:
            last.pop(one, None)
        heads = [node for one in waits for node in tails[one]] if waits else after
        try:
            tails[index] = steps[index].add(builder, heads)
        except BaseException as error:
            blame(blueprint, index, error)
            raise
    return [node for index in last for node in tails[index]] if last else after


def lay_out_nodes(
    script: Script, blueprint: Blueprint, steps: Sequence[CudaStep], indices: Iterable[int], *, own: bool = False
) -> None:
    """Put some nodes of a blueprint into what a run is made of.

    What the host decides about runs by itself, in the order of the indices; the nodes in between overlap as `add_nodes`
    has it. `own` says that they are the graph's own nodes, which `Replay` names.
    """
    run: list[int] = []

    def take() -> None:
        if run:
            script.take(partial(_add_run, blueprint, steps, tuple(run)), run if own else ())
            run.clear()

    for index in indices:
        if not steps[index].by_host:
            run.append(index)
            continue
        take()
        script.close()  # so that what fails in it is not blamed on this node
        try:
            steps[index].lay_out(script)
        except BaseException as error:
            blame(blueprint, index, error)
            raise
    take()


def _add_run(
    blueprint: Blueprint,
    steps: Sequence[CudaStep],
    indices: Sequence[int],
    builder: GraphBuilder,
    after: Sequence[int],
) -> Sequence[int]:
    return add_nodes(builder, blueprint, steps, indices, after)


def blame(blueprint: Blueprint, index: int, error: BaseException, repetition: int | None = None) -> None:
    """Note on an error which node it came from."""
    if isinstance(error, EagleError):
        error.locate(node=blueprint.nodes[index].label)
    blueprint.blame(error, index, repetition)
