"""``until_done`` and ``Runner``: a step over a batch, repeated until every sample says it is finished."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import index as as_index
from typing import Any, Literal, SupportsIndex

from eagle.busy import CallGuard
from eagle.errors import GraphError, GraphTypeError, PlaneError
from eagle.loop_steps import LoopStep, loop_step
from eagle.plan import Plan
from eagle.progress import Progress, progress_of, shown

__all__ = ["RunReport", "Runner", "until_done"]

_SLICES = 64  # how many calls a run with a progress bar and a limit is cut into


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What one `Runner.run` did.

    Attributes
    ----------
    samples : int
    finished : int
        Samples that are finished, those that were before the run among them.
    failed : int
        Samples that ended because their state turned NaN or infinite; they are not counted as finished.
    steps : int
        The steps that the longest sample took in this run.
    launches : int
        How many launches of the plan's `steps` cover that.
    native_launches : int
        How many calls it took.
    build_s, run_s : float
        Seconds spent building, 0 when it was built before, and running.
    driven : {"device", "host"}
        Who repeats the step: the backend, where the arrays are; or the host, which launches each step and reads back
        whether to go on, because the device cannot repeat it. `notes` says why.
    notes : str
        What was decided at the build, as `Graph.fusion` says it.
    """

    samples: int
    finished: int
    failed: int
    steps: int
    launches: int
    native_launches: int
    build_s: float
    run_s: float
    driven: Literal["device", "host"]
    notes: str

    @property
    def done(self) -> bool:
        """Whether no sample is left to run."""
        return self.finished + self.failed == self.samples

    @property
    def status(self) -> Literal["finished", "max_steps"]:
        """``"finished"``, or ``"max_steps"`` when the limit left samples unfinished."""
        return "finished" if self.done else "max_steps"


class Runner:
    """A step bound to arrays, and the loop around it. The arrays are the caller's own, and change in place.

    Attributes
    ----------
    planes : mapping of str to array
        Every array the step runs over, those that eagle made among them.
    max_steps : int or None
        The most steps of one sample in one `run`.
    steps_taken : array of int64, shape (n,), or None
        The steps each sample took, over all runs since the last `reset`.
    failed : array of bool, shape (n,), or None
        Which samples ended because their state turned NaN or infinite.
    """

    def __init__(self, step: LoopStep, max_steps: int | None, progress: Progress | None) -> None:
        self._guard = CallGuard("Runner")
        self._step = step
        self._progress = progress
        self.max_steps = max_steps

    @property
    def planes(self) -> Mapping[str, object]:
        """Every array the step runs over."""
        return self._step.planes

    @property
    def steps_taken(self) -> Any:
        """The steps each sample took, or None unless they are counted."""
        return self._step.steps

    @property
    def failed(self) -> Any:
        """Which samples failed, or None unless that is looked for."""
        return self._step.failed

    def run(self, max_steps: SupportsIndex | None = None) -> RunReport:
        """Run every unfinished sample to its end, or for `max_steps` steps.

        After the limit was reached, another call goes on for up to as many steps again; when all samples are done it
        launches nothing.

        Parameters
        ----------
        max_steps : int, optional
            Instead of the runner's own limit, for this call.

        Raises
        ------
        GraphError
            `max_steps` is negative.
        IndexError, ZeroDivisionError, OverflowError
            What a sample did, with the kernel's line.
        PlaneError
            An array moved or was resized since it was bound.
        Busy
            Another thread is running it.
        """
        limit = self.max_steps if max_steps is None else limit_of(max_steps)
        return self._guard.hold(lambda: self._run(limit))

    def _run(self, limit: int | None) -> RunReport:
        step, started = self._step, time.perf_counter()
        build_s = step.prepare(self._slice(limit))
        steps = calls = 0
        with shown(self._progress):
            while step.unfinished() and (limit is None or steps < limit):
                most = self._slice(limit if limit is None else limit - steps)
                build_s += step.prepare(most)
                taken = self._launch(most)
                steps, calls = steps + taken, calls + 1
                if self._progress is not None:
                    self._progress(step.samples - step.unfinished(), step.samples, steps)
                if not taken:
                    break
        failed = step.count_failed()
        driven, notes = step.how()
        return RunReport(
            samples=step.samples,
            finished=step.samples - step.unfinished() - failed,
            failed=failed,
            steps=steps,
            launches=-(-steps // step.steps_per_launch),
            native_launches=calls,
            build_s=build_s,
            run_s=time.perf_counter() - started - build_s,
            driven=driven,
            notes=notes,
        )

    def _launch(self, limit: int | None) -> int:
        step = self._step
        try:
            return step.launch(limit)
        except KeyboardInterrupt as error:
            finished = step.samples - step.unfinished()
            error.add_note(f"{finished} of {step.samples} samples are finished; run() goes on from where each stands")
            raise

    def reset(self) -> Runner:
        """Mark every sample as unfinished, so that `run` starts anew from what the arrays hold now."""
        self._guard.hold(self._step.reset)
        return self

    def _slice(self, limit: int | None) -> int | None:
        """Return how many steps to take in one call: all of them, unless progress is to be shown."""
        if self._progress is None:
            return limit
        return 1024 if limit is None else max(1, min(limit, -(-(self.max_steps or limit) // _SLICES)))


def until_done(
    step: object,
    /,
    *,
    max_steps: SupportsIndex | None = None,
    progress: bool | Callable[[int, int, int], object] = False,
    steps_per_sample: bool = False,
    stop_on_nonfinite: bool = False,
    backend: str | None = None,
    **planes: object,
) -> Runner:
    """Bind a step and make the loop that repeats it until every sample's mask is true.

    Each sample stops at its own step. A step of several nodes runs them in list order, once per step, over the whole
    batch; plan launches never write a finished sample, whether or not their kernel declares ``Terminated``. A node
    must not either: it is trusted, so pass ``terminated=mask`` and have it read that array.

    Parameters
    ----------
    step : Plan, or list of Plan and Node
        Plans in a list are made with ``steps=1``.
    max_steps : int, optional
        The most steps of one sample in one run; exact for every sample. None: no limit.
    progress : bool or callable
        True shows a bar (the package tqdm) on runs that take longer than a second; a callable is called with
        ``(samples done, samples, steps)`` as the run goes on.
    steps_per_sample : bool
        Count the steps of each sample.
    stop_on_nonfinite : bool
        End a sample whose floating-point state turns NaN or infinite, and mark it as failed.
    backend : str, optional
        As for `Graph.build`.
    **planes
        What to bind. The mask and outputs are made when absent.

    Raises
    ------
    GraphTypeError
        The step is neither a plan nor a list of plans and nodes.
    GraphError
        No plan in it has a mask and none was passed, a plan in a list takes more than one step, a node in it runs on
        the host (``stream=`` or ``eager=True``), or `max_steps` is negative.
    PlaneError
        As for `Plan.bind`.
    """
    limit = None if max_steps is None else limit_of(max_steps)
    parts = list(step) if isinstance(step, (list, tuple)) else [step]
    refuse_names(parts, until_done)
    made = loop_step(parts, planes, count=steps_per_sample, watch=stop_on_nonfinite, backend=backend)
    return Runner(made, limit, progress_of(progress))


def limit_of(max_steps: SupportsIndex) -> int:
    """Return a limit as an integer, at least 0.

    Raises
    ------
    GraphTypeError
        It is no integer.
    GraphError
        It is negative.
    """
    try:
        limit = as_index(max_steps)
    except TypeError:
        raise GraphTypeError(f"max_steps is an integer, not {max_steps!r}") from None
    if limit < 0:
        raise GraphError(f"max_steps is {limit}", fix="Give 0 or more steps, or None for no limit.")
    return min(limit, 2**62)


def refuse_names(parts: Iterable[object], function: Callable[..., object]) -> None:
    """Raise `PlaneError` if a kernel has an argument called like a keyword of the function it would be passed to."""
    keywords = _keywords(function)
    for part in parts:
        for argument in part.kernel.arguments if isinstance(part, Plan) else ():
            if argument.name in keywords:
                raise PlaneError(
                    f"kernel {part.kernel.name!r} has an argument {argument.name!r}",  # type: ignore[attr-defined]
                    why=f"{function.__name__} has a keyword of that name",
                    fix="Give the argument another name.",
                    planes=(argument.name,),
                )


@functools.cache
def _keywords(function: Callable[..., object]) -> frozenset[str]:
    return frozenset(
        name for name, one in inspect.signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY
    )
