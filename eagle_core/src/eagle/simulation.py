"""``simulate``: a kernel over a batch of samples, each to its own end, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, SupportsIndex

import numpy as np

from eagle.binding import number_for
from eagle.errors import EagleError, GraphError
from eagle.loop import Runner, RunReport, refuse_names, until_done
from eagle.plan import Plan, deploy
from eagle.plugin import Argument, Node, adapter_of

__all__ = ["SimResult", "simulate"]


class SimResult:
    """What a simulation came to. Its arrays are attributes by their names: ``result.x``.

    Attributes
    ----------
    report : RunReport
    status : {"finished", "max_steps"}
    steps : array of int64, shape (n,), or None
        The steps each sample took, with ``steps_per_sample=True``.
    failed : array of int64, or None
        The indices of the samples that turned non-finite, with ``stop_on_nonfinite=True``.
    arrays : mapping of str to array
        Every plane, which are the caller's own arrays where arrays were passed.
    """

    def __init__(self, runner: Runner, report: RunReport) -> None:
        self.report = report
        self.arrays: Mapping[str, Any] = dict(runner.planes)
        self.steps = runner.steps_taken
        self.failed: Any = (
            None if runner.failed is None else np.flatnonzero(adapter_of(runner.failed).host(runner.failed))
        )

    @property
    def status(self) -> Literal["finished", "max_steps"]:
        """``"finished"``, or ``"max_steps"`` when the limit left samples unfinished."""
        return self.report.status

    def __getattr__(self, name: str) -> Any:
        arrays = self.__dict__.get("arrays", {})
        if name in arrays:
            return arrays[name]
        raise AttributeError(f"the simulation has no array {name!r}; it has {', '.join(arrays)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.arrays]

    def __repr__(self) -> str:
        report = self.report
        return f"<eagle.SimResult {self.status}: {report.finished} of {report.samples} samples, {report.steps} steps>"


def simulate(
    kernel: object,
    /,
    *,
    max_steps: SupportsIndex | None = None,
    scalar: Literal["float64", "float32"] | None = None,
    steps: SupportsIndex = 64,
    progress: bool | Callable[[int, int, int], object] = False,
    steps_per_sample: bool = False,
    stop_on_nonfinite: bool = False,
    backend: str | None = None,
    **planes: object,
) -> SimResult:
    """Run a kernel over a batch until every sample is done.

    Parameters
    ----------
    kernel : kernel, Plan, or list of kernels, plans and nodes
        A list is one step: its parts in order, once per step.
    max_steps, progress, steps_per_sample, stop_on_nonfinite, backend
        As for `until_done`.
    scalar, steps
        As for `deploy`.
    **planes
        Arrays, which change in place. For one sample, numbers: they become arrays of one element.

    Raises
    ------
    GraphTypeError, GraphError, KernelError, PlaneError
        As for `deploy` and `until_done`.
    """
    parts = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    several = len(parts) > 1

    def part_of(part: object) -> object:
        if isinstance(part, (Plan, Node)):
            if scalar is not None and isinstance(part, Plan):
                raise GraphError(f"plan {part.name!r} is deployed already", fix="Leave scalar= out.")
            return part
        if not hasattr(part, "__eagle_kernel__") and several:
            return part  # refused as a part of a step
        return deploy(part, scalar=scalar, steps=1 if several else steps)

    made = [part_of(part) for part in parts]
    refuse_names(made, simulate)
    runner = until_done(
        made if len(made) != 1 else made[0],
        max_steps=max_steps,
        progress=progress,
        steps_per_sample=steps_per_sample,
        stop_on_nonfinite=stop_on_nonfinite,
        backend=backend,
        **_one_sample(made, planes),
    )
    return SimResult(runner, runner.run())


def _one_sample(parts: list[object], planes: Mapping[str, object]) -> dict[str, object]:
    """Turn numbers given for planes into arrays of one sample."""
    arguments: dict[str, Argument] = {
        one.name: one for part in parts if isinstance(part, Plan) for one in part.kernel.arguments
    }
    return {name: _plane(arguments.get(name), name, value) for name, value in planes.items()}


def _plane(argument: Argument | None, name: str, value: object) -> object:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    number = isinstance(value, (bool, int, float, complex, str, np.generic))
    if not number or argument is None or argument.role not in ("sample", "mask") or argument.shape:
        return value
    try:
        return np.full(1, number_for(argument, value), argument.dtype)
    except EagleError as error:
        error.locate(plane=name)
        raise
