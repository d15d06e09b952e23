"""The step of a loop: built once per limit, launched, asked how far it got."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import setitem
from typing import Any, Literal

import numpy as np

from eagle.access import footprint, overlap
from eagle.errors import GraphError, GraphTypeError, PlaneError
from eagle.graph import Conditional, Graph, SkipGuard, reduce, repeat_while
from eagle.graph.payloads import Opaque, SampleStep, UntilDone
from eagle.plan import Plan
from eagle.plugin import Argument, Launch, Node, adapter_of
from eagle.signature import with_outputs

__all__ = ["LoopStep", "loop_step"]

Array = np.ndarray[Any, np.dtype[Any]]
_KEPT = 4  # graphs of different limits


def loop_step(
    parts: Sequence[object], planes: Mapping[str, object], *, count: bool, watch: bool, backend: str | None
) -> LoopStep:
    """Return the step made of `parts` over `planes`. Raises as `eagle.until_done` says."""
    plans = [part for part in parts if isinstance(part, Plan)]
    for part in parts:
        if not isinstance(part, (Plan, Node)):
            raise GraphTypeError(f"a step is made of plans and nodes, not {part!r}", fix=_instead(part))
        if isinstance(part, Node) and isinstance(part.payload, Opaque):
            _refuse_host(part)
    if not plans:
        raise GraphError("a step needs a plan, which says when a sample is done")
    if len(parts) > 1:
        for plan in plans:
            if plan.steps != 1:
                raise GraphError(
                    f"plan {plan.name!r} takes {plan.steps} steps a launch, in a step of several nodes",
                    fix="Deploy it with steps=1.",
                )
    given = dict(planes)
    mask = _mask(plans, given)
    for plan in plans:
        needed = {one.name for one in plan.kernel.arguments}
        mine = {name: array for name, array in given.items() if name in needed}
        given.update(with_outputs(plan.kernel, mine)[0])
    _refuse_unknown(plans, given, mask)
    alone = len(parts) == 1 and plans[0].mask is not None and not _follows(plans[0], given)
    return (OnePlan if alone else SeveralNodes)(parts, given, mask, count=count, watch=watch, backend=backend)


class LoopStep(ABC):
    """A step bound to arrays.

    Attributes
    ----------
    planes : dict of str to array
    samples : int
    steps_per_launch : int
    steps, failed : array or None
    """

    def __init__(
        self,
        parts: Sequence[object],
        planes: dict[str, object],
        mask: str,
        *,
        count: bool,
        watch: bool,
        backend: str | None,
    ) -> None:
        self.planes, self._mask, self._backend = planes, mask, backend
        self._launches = [self._bound(part) if isinstance(part, Plan) else part for part in parts]
        self.samples = self._one_length()
        self.steps_per_launch = next(part.steps for part in parts if isinstance(part, Plan))
        self.steps = self._zeros("int64") if count else None
        self.failed = self._zeros("bool") if watch else None
        self._all_done = self._zeros("bool", 1)
        self._graphs: dict[int | None, Graph] = {}
        _ = self.mask  # refuses one that does not fit

    @property
    def mask(self) -> Array:
        """The mask as it is now, seen from the host. Raises `PlaneError` when it does not fit the samples."""
        array = self.planes[self._mask]
        memory = adapter_of(array).describe(array)
        if memory.readonly is not None or memory.shape != (self.samples,) or memory.dtype != "bool":
            raise PlaneError(
                f"the mask of {self.samples} samples is a bool array of that length that can be written",
                why=f"this one is {memory.dtype}{list(memory.shape)}",
                planes=(self._mask,),
            )
        return adapter_of(array).host(array)

    def prepare(self, limit: int | None) -> float:
        """Build the loop for a limit, and return how many seconds that took: 0 when it was built before."""
        if limit in self._graphs or limit == 0:
            return 0.0
        start = time.perf_counter()
        while len(self._graphs) >= _KEPT:
            self._graphs.pop(next(iter(self._graphs)))
        self._graphs[limit] = self._build(limit)
        return time.perf_counter() - start

    def launch(self, limit: int | None) -> int:
        """Run the loop, and return the most steps that a sample took."""
        self._graphs[limit].launch()
        return self._steps_of(limit)

    def how(self) -> tuple[Literal["device", "host"], str]:
        """Return who repeats the step, and what was decided at the build: `driven` and `notes` of a `RunReport`."""
        built = [*self._graphs.values()][-1:]  # of all limits alike
        by_host = any("host_driven" in graph.schedule for graph in built)
        return "host" if by_host else "device", "".join(graph.fusion() for graph in built)

    def unfinished(self) -> int:
        """Return how many samples are left to run."""
        return self.samples - int(np.count_nonzero(self.mask))

    def count_failed(self) -> int:
        """Return how many samples failed."""
        return 0 if self.failed is None else int(np.count_nonzero(adapter_of(self.failed).host(self.failed)))

    def reset(self) -> None:
        """Mark every sample as unfinished."""
        _ = self.mask  # refuses one that does not fit any more
        for array in (self.planes[self._mask], self.steps, self.failed):
            if array is not None:
                adapter_of(array).clear(array)

    def _zeros(self, dtype: str, count: int | None = None) -> Any:
        """Return an array of zeros, one per sample, on the device that the mask is on."""
        like, shape = self.planes[self._mask], (self.samples if count is None else count,)
        if (adapter := adapter_of(like)).describe(like).device[0] == "cpu":
            return np.zeros(shape, dtype)
        array = adapter.empty(like, shape, dtype)
        adapter.clear(array)
        return array

    @abstractmethod
    def _build(self, limit: int | None) -> Graph: ...

    @abstractmethod
    def _steps_of(self, limit: int | None) -> int: ...

    def _one_length(self) -> int:
        """Return how many samples there are, the same for every plan."""
        a, *others = (one for one in self._launches if isinstance(one, Launch))
        for b in others:
            if b.samples != a.samples:
                raise PlaneError(
                    f"kernel {a.kernel.name!r} has {a.samples} samples and kernel {b.kernel.name!r} has {b.samples}",
                    fix="Give the planes of every plan of a step one length.",
                )
        return a.samples

    def _bound(self, plan: Plan) -> Launch:
        names = {one.name for one in plan.kernel.arguments}
        bound = plan.bind(**{name: array for name, array in self.planes.items() if name in names})
        launch: Launch = bound.__eagle_node__().payload
        return launch if plan.mask is not None else replace(launch, gate=self.planes[self._mask])


class OnePlan(LoopStep):
    """One plan whose kernel has a mask: a backend may run each sample to its own end in one go."""

    def _build(self, limit: int | None) -> Graph:
        self._longest = [0]  # not a method: the graph would hold what holds it
        (launch,) = self._launches
        assert isinstance(launch, Launch)
        payload = UntilDone(
            launch=launch,
            mask=self._mask,
            limit=limit,
            all_done=self._all_done,
            steps=self.steps,
            failed=self.failed,
            report=partial(setitem, self._longest, 0),
        )
        return Graph().add_node(Node("until_done", payload, launch.kernel.name)).build(self._backend)

    def _steps_of(self, limit: int | None) -> int:
        return self._longest[0]


class SeveralNodes(LoopStep):
    """Nodes and plans in list order, once per step, over the whole batch."""

    def _build(self, limit: int | None) -> Graph:
        parts: list[Any] = [Node("launch", one) if isinstance(one, Launch) else one for one in self._launches]
        mask = self.planes[self._mask]
        if self.steps is not None or self.failed is not None:
            running = self._zeros("bool")
            counted = {} if self.steps is None else {"steps": self.steps}
            begin = SampleStep(reads={"mask": mask}, writes={"running": running, **counted})
            parts.insert(0, Node("begin_step", begin, "begin"))
            if self.failed is not None:
                states = {f"state {number}": state for number, state in enumerate(self._written_floats())}
                end = SampleStep(reads={**states, "running": running}, writes={"failed": self.failed, "mask": mask})
                parts.append(Node("end_step", end, "watch"))
        look = reduce(mask, self._all_done, "all", name="all done")
        self._loop: dict[int | None, Conditional] = getattr(self, "_loop", {})
        loop = repeat_while((*parts, look), SkipGuard(self._all_done, negate=True), limit, name="until done")
        self._loop[limit] = loop
        return Graph().add_node(look).add_node(loop).build(self._backend)

    def _steps_of(self, limit: int | None) -> int:
        return self._loop[limit].iterations or 0

    def _written_floats(self) -> list[object]:
        return [
            launch.arrays[argument.name]
            for launch in self._launches
            if isinstance(launch, Launch)
            for argument in launch.kernel.arguments
            if argument.role == "sample" and argument.mode != "r" and argument.dtype.startswith("float")
        ]


def _refuse_host(node: Node[Opaque]) -> None:
    """Raise `GraphError` for code that the host runs at every step."""
    if node.payload.stream is not None or node.payload.eager:
        what = f"a node with {'eager=True' if node.payload.eager else 'stream='} cannot run inside the loop"
        fix = "Call runner.run(max_steps=k), then your code, in a loop of your own; or leave the keyword out."
        raise GraphError(what, why="a loop is one graph on the device", fix=fix, nodes=(node.name or node.kind,))


def _instead(part: object) -> str:
    if hasattr(part, "__eagle_kernel__"):
        return "Deploy the kernel first."
    if hasattr(part, "__eagle_node__"):
        return "Pass the plan, and its planes as keywords."
    if callable(part):
        return "Wrap it: eagle.graph.opaque(fn, reads=..., writes=...)."
    return "Deploy a kernel first."


def _follows(plan: Plan, given: Mapping[str, object]) -> bool:
    """Whether a plane that the kernel only reads is also one that it writes, and so changes from step to step.

    A loop that keeps a sample in registers until its end would not see that.
    """
    footprints = {
        one.name: footprint(adapter_of(given[one.name]).describe(given[one.name]))
        for one in plan.kernel.arguments
        if one.role in ("sample", "mask") and one.name in given
    }
    modes = {one.name: one.mode for one in plan.kernel.arguments}
    return any(
        overlap(footprints[a], footprints[b])
        for a in footprints
        for b in footprints
        if modes[a] == "r" and modes[b] != "r"
    )


def _mask(plans: Sequence[Plan], given: dict[str, object]) -> str:
    """Return the name of the mask; every plan that has one means the same."""
    names = {plan.mask.name for plan in plans if plan.mask is not None}
    if len(names) > 1:
        raise GraphError(f"the plans have masks of different names: {', '.join(sorted(names))}", fix="Use one name.")
    if names:
        return names.pop()
    if "terminated" not in given:
        raise GraphError(
            "nothing says when a sample is done",
            why="no kernel declares Terminated",
            fix="Declare it in one, or pass terminated=mask and have a node write it.",
        )
    return "terminated"


def _refuse_unknown(plans: Sequence[Plan], given: Mapping[str, object], mask: str) -> None:
    known: list[Argument] = [one for plan in plans for one in plan.kernel.arguments]
    names = {one.name for one in known} | {mask}
    for name in given:
        if name not in names:
            kernels = ", ".join(repr(plan.name) for plan in plans)
            raise PlaneError(
                f"no kernel of the step has an argument {name!r}", why=f"there are {kernels}", planes=(name,)
            )
