"""What one run of a graph is: captured graphs to launch, calls of the host, and what the host decides between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from eagle_cuda.driver import call
from eagle_cuda.graph_builder import GraphBuilder

if TYPE_CHECKING:
    from eagle_cuda.device import CudaDevice
    from eagle_cuda.lifetime import Holdings
    from eagle_cuda.steps import HostStep

__all__ = ["Choice", "HostCall", "Piece", "Replay", "Script"]

Add: TypeAlias = Callable[[GraphBuilder, Sequence[int]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Replay:
    """A captured graph.

    Attributes
    ----------
    graph : CUgraphExec
    indices : tuple of int
        The graph's own nodes that are in it; not those of bodies.
    """

    graph: Any
    indices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class HostCall:
    """A node that the host runs."""

    step: HostStep
    index: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What runs if the guard that was looked at right before is true; in a loop, again and again as long as it is.

    Attributes
    ----------
    body : tuple of Piece
        In a loop, its last graph looks at the guard again.
    loop : bool
    """

    body: tuple[Piece, ...]
    loop: bool


Piece: TypeAlias = Replay | HostCall | Choice


class Script:
    """Pieces in the making, in order; what is captured is gathered into as few graphs as there can be.

    Parameters
    ----------
    device : CudaDevice
    stream : CUstream
        Where captures are made.
    holdings : Holdings
        Owns what the graphs need.
    in_body : bool
        Whether it is what a conditional runs.
    around : int
        As of `GraphBuilder`.
    """

    def __init__(
        self, device: CudaDevice, stream: Any, holdings: Holdings, *, in_body: bool = False, around: int = 0
    ) -> None:
        self._device, self._stream, self._holdings = device, stream, holdings
        self.around = around
        self._in_body = in_body
        self._pieces: list[Piece] = []
        self._gathered: list[Add] = []
        self._indices: list[int] = []

    def take(self, add: Add, indices: Sequence[int] = ()) -> None:
        """Capture something behind all there is; `indices` are those of a `Replay`."""
        self._gathered.append(add)
        self._indices.extend(indices)

    def call(self, step: HostStep, index: int) -> None:
        """Have the host run a node."""
        self.close()
        self._pieces.append(HostCall(step, index))

    def inside(self, *, around: int | None = None) -> Script:
        """Return the script of a body; `around` is that of the script unless it is given."""
        around = self.around if around is None else around
        return Script(self._device, self._stream, self._holdings, in_body=True, around=around)

    def choose(self, body: Script, *, loop: bool) -> None:
        """Have the host run a body as the guard says that what was captured last has looked at."""
        self.close()
        self._pieces.append(Choice(body.pieces(), loop))

    def pieces(self) -> tuple[Piece, ...]:
        """Return all of it."""
        self.close()
        return tuple(self._pieces)

    def close(self) -> None:
        """Make a graph of what was gathered."""
        if not self._gathered:
            return
        gathered, indices = self._gathered, tuple(self._indices)
        self._gathered, self._indices = [], []
        graph = call("cuGraphCreate", 0)
        self._holdings.own("cuGraphDestroy", graph)
        builder = GraphBuilder(graph, self._device, self._stream, self._holdings, in_body=self._in_body)
        builder.around = self.around
        last: Sequence[int] = []
        for add in gathered:
            last = add(builder, last)
        executable = call("cuGraphInstantiate", graph, 0)
        self._holdings.own("cuGraphExecDestroy", executable)
        self._pieces.append(Replay(executable, indices))
