"""A backend turns a blueprint into an executable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from eagle.errors import BuildError, PlaneError
from eagle.plugin.arrays import Memory
from eagle.plugin.blueprint import Blueprint
from eagle.plugin.kernels import Kernel

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Backend", "Executable"]


class Executable(ABC):
    """A graph, built: what `Graph.launch` runs.

    Its duties: check the planes (`Blueprint.recheck`) before native or device work touches them, then the lowerings'
    own checks; `Blueprint.blame` whatever escapes from a node; start the launch after a failure at node 0; keep the
    blueprint and everything lowerings asked to keep until no work is in flight. The core calls it from one thread at
    a time.

    Attributes
    ----------
    schedule : tuple of str
        One word per stage: how it runs. ``"host_driven"`` says that the host launches what a conditional of the stage
        runs, and reads its guard back in between; `RunReport.driven` repeats it for loops.
    counters : mapping
        What building it took, such as ``{"captures": 1, "graph_builds": 1}``. The core adds them to
        `eagle.counters` once, after the build.
    """

    schedule: tuple[str, ...] = ()
    counters: Mapping[str, int] = {}

    @abstractmethod
    def enqueue(self, n: int, /) -> None:
        """Run the graph `n` times; may return before the runs end."""

    def synchronize(self) -> None:
        """Wait for everything queued, and raise the first failure."""
        return

    def notes(self) -> Sequence[str]:
        """Say in words what was decided at the build: what runs fused, cut or otherwise, and why."""
        return ()

    def profile(self, n: int, /) -> Sequence[float]:
        """Run the graph `n` times, node by node, and return the mean seconds of each node.

        Raises
        ------
        BuildError
            This backend takes no times; the default.
        """
        raise BuildError("its backend does not take the time of nodes", fix="Time g.launch(n) as a whole.")

    def check(self) -> str:
        """Run the graph once and compare what each node writes with what it declares; say what was looked at.

        Raises
        ------
        PlaneError
            A node wrote what it does not declare.
        BuildError
            This backend does not look; the default.
        """
        raise BuildError("its backend does not check what nodes write", fix="Check a graph over host arrays, on 'cpu'.")

    def rebind(self, blueprint: Blueprint, changed: Sequence[int], /) -> bool:
        """Go on with launches bound to other arrays or numbers, where that takes less than compiling anew.

        Parameters
        ----------
        blueprint : Blueprint
            The graph as it is to be: the same nodes in the same order, some with other planes or params.
        changed : sequence of int
            The indices of those, all of kind ``launch``.

        Returns
        -------
        bool
            Whether it was done; when not, which is the default, nothing has changed and the core compiles anew.
        """
        return False

    def close(self) -> None:
        """Wait for work in flight and release what is held; called once, when the graph is gone."""
        return


class Backend(ABC):
    """Somewhere graphs run.

    Attributes
    ----------
    name : str
        What ``build(backend=)`` and `Lowering.backend` call it.
    devices : frozenset of str
        Kinds of device whose memory it can use: ``{"cpu"}``, ``{"cuda"}``.
    modules : mapping of str to str
        Modules of eagle that a plugin fills, with the plugin's own that has what they name:
        ``{"eagle.loaded": "eagle_cuda.loaded"}``. They are imported on first use.
    """

    name: ClassVar[str]
    devices: ClassVar[frozenset[str]]
    modules: ClassVar[Mapping[str, str]] = {}

    def why_not(self) -> str | None:
        """Return None when graphs can run here, else one sentence that says why not and what to do."""
        return None

    def describe(self) -> str:
        """Return one sentence on what graphs run on here, for `eagle doctor`; asked only when `why_not` is None.

        By default nothing is said.
        """
        return ""

    def prepare(self, kernel: Kernel, /) -> None:
        """Compile `kernel` ahead of the first build that needs it, into the backend's cache. By default, nothing.

        Raises
        ------
        BuildError
            The backend cannot lower it.
        """
        return

    def read(self, memory: Memory, index: int, /) -> object:
        """Return element `index` of a 1-D array in this backend's memory as a Python number, waiting for the device.

        Raises
        ------
        PlaneError
            It cannot, which is the default.
        """
        raise PlaneError(f"backend {self.name!r} reads no element for the host", fix="Copy it into a host array first.")

    def fetch(self, memory: Memory, /) -> np.ndarray[Any, Any]:
        """Return a copy of an array in this backend's memory on the host, waiting for the device.

        Raises
        ------
        PlaneError
            It cannot, which is the default.
        """
        raise PlaneError(f"backend {self.name!r} copies nothing to the host", fix="Copy it into a host array first.")

    def clear(self, memory: Memory, /) -> None:
        """Set every byte of a contiguous array in this backend's memory to zero, before anything launched later.

        Raises
        ------
        PlaneError
            It cannot, which is the default.
        """
        raise PlaneError(f"backend {self.name!r} clears no array", fix="Set it to zero by its own library.")

    def empty(self, like: Memory, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate an array on the device of `like`, for a library that this is not known to be able to.

        Raises
        ------
        PlaneError
            It cannot, which is the default.
        """
        raise PlaneError(f"backend {self.name!r} allocates no array", fix="Pass the array yourself.")

    @abstractmethod
    def compile(self, blueprint: Blueprint, options: Mapping[str, object], /) -> Executable:
        """Lower every node of `blueprint` through a context of its own and return what runs it.

        Parameters
        ----------
        blueprint : Blueprint
        options : mapping
            What `Graph.build` was given beside ``backend=``.

        Raises
        ------
        BuildError
            The backend cannot run the graph, or does not know an option; the message names its own options.
        """
