"""A backend that queues work and runs it when somebody waits, in a random order among those that are allowed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from eagle.plugin import Backend, Blueprint, BuildError, Executable, Guard, LowerContext, Step, guard_reader


class SlabStep(Step):
    def __init__(self, run: Callable[[], object]) -> None:
        self.run = run


class SlabContext(LowerContext):
    backend: ClassVar[str] = "slab"

    def __init__(self, options: Mapping[str, object], rng: random.Random) -> None:
        super().__init__(options)
        self.rng = rng

    def call(self, fn: Callable[[], object], /) -> Step:
        return SlabStep(fn)

    def sequence(self, blueprint: Blueprint, steps: Sequence[Step], /) -> Step:
        def run() -> None:
            waits = [set(needed) for needed in blueprint.before]
            ready = [index for index, needed in enumerate(waits) if not needed]
            while ready:
                index = ready.pop(self.rng.randrange(len(ready)))
                try:
                    steps[index].run()  # type: ignore[attr-defined]
                except BaseException as error:
                    blueprint.blame(error, index)
                    raise
                for other, needed in enumerate(waits):
                    if index in needed:
                        needed.remove(index)
                        if not needed:
                            ready.append(other)

        return SlabStep(run)

    def when(self, guard: Guard, then: Step, /) -> Step:
        holds = guard_reader(guard)
        return SlabStep(lambda: then.run() if holds() else None)  # type: ignore[attr-defined]

    def repeat(
        self,
        guard: Guard | None,
        body: Step,
        /,
        *,
        limit: int | None = None,
        report: Callable[[int, bool], object] | None = None,
    ) -> Step:
        holds = guard_reader(guard) if guard is not None else lambda: True

        def run() -> None:
            done = 0
            while holds() and done != limit:
                body.run()  # type: ignore[attr-defined]
                done += 1
            if report is not None:
                report(done, holds())

        return SlabStep(run)


class SlabExecutable(Executable):
    def __init__(self, blueprint: Blueprint, context: SlabContext) -> None:
        self.schedule = ("queue",) * len(blueprint.stages)
        self.blueprint, self.context = blueprint, context
        self.step = context.sequence(blueprint, [context.lower(placed) for placed in blueprint.nodes])
        self.queued = 0

    def enqueue(self, n: int, /) -> None:
        self.blueprint.recheck()
        self.context.check_before(self.blueprint)
        self.queued += n

    def synchronize(self) -> None:
        queued, self.queued = self.queued, 0
        for _ in range(queued):
            self.step.run()  # type: ignore[attr-defined]
        self.context.check_after(self.blueprint)


class SlabBackend(Backend):
    name: ClassVar[str] = "slab"
    devices: ClassVar[frozenset[str]] = frozenset({"slab"})
    seed: ClassVar[int] = 0

    def compile(self, blueprint: Blueprint, options: Mapping[str, object], /) -> Executable:
        if options:
            raise BuildError(f"backend 'slab' has no build option {sorted(options)}", why="it has none")
        return SlabExecutable(blueprint, SlabContext(options, random.Random(self.seed)))
