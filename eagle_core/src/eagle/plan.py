"""``deploy``, ``Plan``, ``BoundPlan``: a kernel, ready to run, and bound to arrays."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Iterable, Mapping
from operator import index as as_index
from typing import Any, Literal, SupportsIndex

import numpy as np

from eagle.binding import Binding, bind
from eagle.busy import CallGuard
from eagle.errors import BuildError, GraphError, GraphTypeError, PlaneError
from eagle.graph import Graph
from eagle.graph.rebinding import rebind
from eagle.plugin import Argument, Kernel, Launch, Node, backends
from eagle.plugin.lookup import backend_named, no_backend
from eagle.signature import described, with_outputs

__all__ = ["BoundPlan", "CopyWarning", "Plan", "deploy"]


class CopyWarning(UserWarning):
    """An array that has to be copied before and after every launch."""


def deploy(
    kernel: object,
    *,
    scalar: Literal["float64", "float32"] | None = None,
    targets: Iterable[str] | None = None,
    steps: SupportsIndex = 64,
) -> Plan:
    """Make a plan of a kernel: parsed, typed, verified, and compiled ahead where it will run.

    Parameters
    ----------
    kernel : kernel
        What ``@hawk.kernel`` returns, anything with ``__eagle_kernel__``, or an `eagle.plugin.Kernel`.
    scalar : {"float64", "float32"}, optional
        The type of its floats; by default float64.
    targets : iterable of str, optional
        The backends to compile for; by default, those that can run here.
    steps : int
        How many steps a launch counts for, in the report of a loop.

    Raises
    ------
    GraphTypeError
        It is no kernel.
    KernelError
        It is outside the language; from the front end.
    BackendUnavailable
        A target that is not installed or cannot run here.
    """
    made = _kernel(kernel, scalar)
    try:
        count = as_index(steps)
    except TypeError:
        raise GraphTypeError(f"steps is an integer, not {steps!r}") from None
    if count < 1:
        raise GraphError(f"steps is {count}", fix="Give at least 1.")
    for backend in _targets(targets):
        backend.prepare(made)
    return Plan(made, steps=count)


class Plan:
    """A kernel that can be bound to arrays.

    Attributes
    ----------
    kernel : Kernel
    steps : int
        How many steps a launch counts for.
    """

    def __init__(self, kernel: Kernel, *, steps: int = 64) -> None:
        self.kernel = kernel
        self.steps = steps

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    @property
    def signature(self) -> str:
        """The kernel's arguments with what has to be bound to each, one a line."""
        return "\n".join(f"{argument.name}: {described(argument)}" for argument in self.kernel.arguments)

    @property
    def mask(self) -> Argument | None:
        """The argument that says which samples are done, if it has one."""
        return next((one for one in self.kernel.arguments if one.role == "mask"), None)

    def bind(self, /, **planes: object) -> BoundPlan:
        """Check arrays and numbers against the signature, once, and keep them.

        Raises
        ------
        PlaneError
            Something missing, unknown, of another dtype, shape, length or device, misaligned, read-only where it is
            written, or overlapping.

        Warns
        -----
        CopyWarning
            An array that is sample-major or strided is copied before every launch, and back after one that writes it.
        """
        return BoundPlan(self, _bound(self.kernel, planes, stacklevel=3))

    def run(self, /, **planes: object) -> Any:
        """Run once; outputs, and the mask, that are not given are allocated.

        Returns
        -------
        array, or named tuple of arrays
            What the kernel writes and `planes` does not hold, or the one such array; else everything it writes.
        """
        given, made = with_outputs(self.kernel, planes)
        BoundPlan(self, _bound(self.kernel, given, stacklevel=3)).launch()
        names = [name for name in made if self.mask is None or name != self.mask.name] or [
            one.name for one in self.kernel.arguments if one.mode != "r" and one.role == "sample"
        ]
        arrays: list[Any] = [given[name] for name in names]
        return arrays[0] if len(arrays) == 1 else namedtuple("Outputs", names, rename=True)(*arrays)

    def __repr__(self) -> str:
        return f"<eagle.Plan of kernel {self.name!r}>"

    def __str__(self) -> str:
        lines = "\n".join(f"    {line}" for line in self.signature.splitlines())
        return f"plan of kernel {self.name}, which takes for n samples\n{lines}"


class BoundPlan:
    """A plan over arrays. A graph takes it in by `Graph.add`; it can also be launched by itself."""

    def __init__(self, plan: Plan, binding: Binding) -> None:
        self.plan = plan
        self._guard = CallGuard("BoundPlan")
        self._graph: Graph | None = None
        self._binding, self._launch = binding, self._launch_of(binding)

    @property
    def samples(self) -> int:
        """How many samples the planes hold."""
        return self._binding.samples

    @property
    def arrays(self) -> Mapping[str, object]:
        """The arrays it is bound to, by argument."""
        return {**self._binding.arrays, **self._binding.copied}

    def launch(self, n: SupportsIndex = 1) -> BoundPlan:
        """Run the kernel over all samples, `n` times, and wait for it.

        Raises
        ------
        IndexError, ZeroDivisionError, OverflowError
            What a sample did, with the kernel's line. The other samples are done.
        PlaneError
            An array moved or was resized since it was bound.
        Busy
            Another thread is launching it.
        """
        return self._guard.hold(lambda: self._launch_alone(n))

    def _launch_alone(self, n: SupportsIndex) -> BoundPlan:
        if self._graph is None:
            self._graph = Graph().add_node(Node("launch", self._launch)).build()
        binding = self._binding
        copied = {name: (array, self._laid_out(name, array)) for name, array in binding.copied.items()}
        for array, laid_out in copied.values():
            np.copyto(laid_out, array)  # type: ignore[arg-type]
        try:
            self._graph.launch(n)
        finally:
            for name, (array, laid_out) in copied.items():
                if any(one.name == name and one.mode != "r" for one in self.plan.kernel.arguments):
                    np.copyto(array, laid_out)  # type: ignore[arg-type]
        return self

    def _laid_out(self, name: str, array: Any) -> Any:
        """Return the copy that the kernel runs over, with the axes of the array it stands for."""
        laid_out = _like(self._binding.arrays[name], array)
        if laid_out.shape != array.shape:
            raise PlaneError(
                f"the array was resized since kernel {self.plan.name!r} was bound to it",
                fix="Bind the array as it is now.",
                planes=(name,),
            )
        return laid_out

    def rebind(self, /, **planes: object) -> BoundPlan:
        """Bind other arrays or numbers for some arguments; the others stay.

        The graphs it stands in, built or not, run with them from then on.

        Raises
        ------
        GraphError
            The nodes of a graph it stands in would have to wait for each other differently, or it stands inside a
            conditional.
        RaceError
            Branches of a graph would race.
        PlaneError
            As for `Plan.bind`, or, where it stands in a graph, an array that would have to be copied.
        Busy
            One of the graphs is being launched.

        Everything is as before then.
        """
        binding = self._binding
        given = {**binding.params, **binding.arrays, **binding.copied, **planes}
        self._guard.hold(lambda: self._rebind(_bound(self.plan.kernel, given, stacklevel=6)))
        return self

    def _rebind(self, binding: Binding) -> None:
        launch, graphs = self._launch_of(binding), list(self._launch.graphs)
        if any(graph is not self._graph for graph in graphs):
            self._refuse_copies(binding)
        rebind(graphs, self._launch, launch)
        self._binding, self._launch = binding, launch

    def _launch_of(self, binding: Binding) -> Launch:
        return Launch(kernel=self.plan.kernel, arrays=binding.arrays, params=binding.params, samples=binding.samples)

    def __eagle_node__(self) -> Node[Launch]:
        self._refuse_copies(self._binding)
        return Node("launch", self._launch)

    def _refuse_copies(self, binding: Binding) -> None:
        for name in binding.copied:
            raise PlaneError(
                f"plane {name!r} of kernel {self.plan.name!r} would have to be copied before every launch",
                why="it is strided or sample-major, and a graph needs to see the very array you hold",
                fix="Pass a contiguous, component-major array.",
                planes=(name,),
            )

    def __repr__(self) -> str:
        return f"<eagle.BoundPlan of kernel {self.plan.name!r} over {self.samples} samples>"


def _bound(kernel: Kernel, planes: Mapping[str, object], *, stacklevel: int) -> Binding:
    """Bind, and warn the caller's caller of arrays that will be copied."""
    binding = bind(kernel, planes)
    for name in binding.copied:
        warnings.warn(
            f"plane {name!r} of kernel {kernel.name!r} is copied before every launch, because its samples are not "
            "contiguous; a graph refuses it. Pass a component-major, contiguous array.",
            CopyWarning,
            stacklevel=stacklevel,
        )
    return binding


def _like(laid_out: Any, array: Any) -> Any:
    """Return the laid-out plane with the axes of the array it was made from."""
    if array.ndim == 3:
        return laid_out.reshape(array.shape)
    return laid_out if laid_out.shape == array.shape else laid_out.T


def _kernel(kernel: object, scalar: str | None) -> Kernel:
    if scalar not in (None, "float64", "float32"):
        raise GraphError(f"scalar is {scalar!r}", fix="It is 'float64' or 'float32'.")
    if isinstance(kernel, Kernel):
        floats = {one.dtype for one in kernel.arguments if one.dtype.startswith("float")}
        if scalar is not None and floats - {scalar}:
            raise GraphError(f"kernel {kernel.name!r} is made for {floats.pop()}", fix="Leave scalar= out.")
        return kernel
    make = getattr(kernel, "__eagle_kernel__", None)
    if make is None or isinstance(kernel, type):
        raise GraphTypeError(
            f"deploy takes a kernel, not {kernel!r}",
            fix="Put @hawk.kernel above the function." if callable(kernel) else "",
        )
    made = make(scalar or "float64")
    if not isinstance(made, Kernel):
        raise GraphTypeError(f"__eagle_kernel__ of {kernel!r} returned {made!r}, which is no eagle Kernel")
    return made


def _targets(targets: Iterable[str] | None) -> list[Any]:
    if targets is None:
        return [backend for backend in backends() if backend.why_not() is None]
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        raise GraphTypeError(f"targets is a list of backends, not {targets!r}")
    chosen = []
    for name in targets:
        backend = backend_named(name)
        if backend is None:
            raise no_backend(f"there is no backend {name!r} to compile for")
        if (reason := backend.why_not()) is not None:
            raise BuildError(f"backend {name!r} cannot run here", why=reason)
        chosen.append(backend)
    return chosen
