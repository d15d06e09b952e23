"""What the lowerings of the CPU make: Python to call, or compiled code to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from eagle.plugin import BuildError, Placed, Step

if TYPE_CHECKING:
    from eagle_cpu.fusion.launched import Launched, Reduced

__all__ = ["CpuStep", "NativeStep", "checked"]


class CpuStep(Step):
    """A callable without arguments that does the step's work on the calling thread."""

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work

    @property
    def work(self) -> Callable[[], object]:
        """What does the work; calling it costs less than calling the step."""
        return self._work

    def __call__(self) -> None:
        """Do the work."""
        self.work()


class NativeStep(CpuStep):
    """Compiled code over samples. Consecutive ones become one native call; called by itself, it is a call of its own.

    The code is called over disjoint ranges that cover ``0 .. samples`` once, in any order, on any thread, without the
    interpreter's lock, in the default floating-point environment. It must not throw or touch Python, gives the same
    bits for any cut, and calls ``poll`` at least every 20 ms of work.

    Parameters
    ----------
    alone : callable
        ``alone(step)`` returns what does the work of this step by itself.

    Attributes
    ----------
    placed : Placed
        The node it is the work of; its planes are what the code touches.
    entry : int
        The address of an ``eagle_entry`` (``eagle/exec/abi.h``).
    args : int
        The address handed to it; the context's `keep` keeps alive what lies there.
    samples, grain : int
        Cuts lie at multiples of `grain`. `samples` also decides whether a branch is small enough to run beside others.
    cost_ns : float
        A guess at what one sample takes: it decides how many threads are worth waking, and nothing else.
    failure : callable or None
        Returns the exception that a positive code stands for, from what the code left in `args`. None: a check of the
        context's knows, if anything does.
    forget : callable or None
        Drops what the code left there. Called before the first run and after one that failed or was interrupted.
    source : Launched or Reduced or None
        What the code does, as far as it can be compiled anew as part of a fused kernel.
    """

    __slots__ = ("_alone", "args", "cost_ns", "entry", "failure", "forget", "grain", "placed", "samples", "source")

    def __init__(
        self,
        alone: Callable[[NativeStep], Callable[[], object]],
        placed: Placed[Any],
        entry: int,
        args: int,
        *,
        samples: int,
        grain: int,
        cost_ns: float,
        failure: Callable[[], Exception] | None = None,
        forget: Callable[[], object] | None = None,
        source: Launched | Reduced | None = None,
    ) -> None:
        self._alone = alone
        self.placed = placed
        self.entry, self.args = entry, args
        self.samples, self.grain, self.cost_ns = samples, grain, cost_ns
        self.failure, self.forget = failure, forget
        self.source = source

    @property
    def members(self) -> tuple[NativeStep, ...]:
        """The steps it is made of, in order: itself, unless several were joined."""
        return (self,)

    def failed(self) -> NativeStep | None:
        """Return the first of several joined steps whose code failed, as far as that was recorded."""
        return None

    @property
    def work(self) -> Callable[[], object]:
        """What does the work by itself: made anew each time."""
        return self._alone(self)

    @property
    def job(self) -> tuple[int, int, int, int, float]:
        """It as a job of the team."""
        return self.entry, self.args, self.samples, self.grain, self.cost_ns


def checked(steps: Sequence[Step]) -> list[CpuStep]:
    """Return the steps, which have to be this backend's.

    Raises
    ------
    BuildError
        One is another's.
    """
    for step in steps:
        if not isinstance(step, CpuStep):
            raise BuildError(f"{step!r} is no step of backend 'cpu'", fix="Return what the context makes.")
    return list(steps)  # type: ignore[arg-type]
