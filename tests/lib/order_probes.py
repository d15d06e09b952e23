"""Nodes that note what had run before them, to see whether a graph keeps the order it must, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cuda_frame
import numpy as np
from cuda_arrays import DeviceArray

from eagle.graph import opaque
from eagle.plugin import Access, Lowering, Node, NodeKind, Placed, register

SOURCE = """
// How often each node has run by now; then count this run.
extern "C" __global__ void probe(unsigned* counts, unsigned* seen, int nodes, int me) {
    for (int i = 0; i < nodes; ++i) seen[me * nodes + i] = counts[i];
    counts[me] += 1;
}
extern "C" __global__ void down(int* cell) { *cell -= 1; }
"""


class Probes:
    """Makes the probing nodes of one graph, and reads what they saw.

    What they write is not declared, so that it orders nothing.
    """

    MOST = 32

    def __init__(self) -> None:
        self.names: list[str] = []
        self.counts = DeviceArray(np.zeros(self.MOST, np.uint32))
        self.seen = DeviceArray(np.zeros((self.MOST, self.MOST), np.uint32))

    def fn(self, name: str, *, counts_down: DeviceArray | None = None) -> Callable[[], object]:
        me = len(self.names)
        self.names.append(name)
        kernel, down = cuda_frame.compiled(SOURCE, "probe"), cuda_frame.compiled(SOURCE, "down")

        def run() -> None:
            cuda_frame.run(kernel, self.counts, self.seen, np.int32(self.MOST), np.int32(me))
            if counts_down is not None:
                cuda_frame.run(down, counts_down)

        return run

    def opaque(self, name: str, **planes: Any) -> Node[Any]:
        """A node that keeps the order of adding."""
        return opaque(self.fn(name, counts_down=planes.pop("counts_down", None)), **planes, name=name)

    def known(self, name: str, *planes: tuple[DeviceArray, str]) -> Node[Any]:
        """A node that may run whenever its planes allow."""
        return Node("probe", (self.fn(name), planes), name)

    def array(self, values: Any, dtype: Any = np.float64) -> DeviceArray:
        return DeviceArray(np.array(values, dtype))

    def clear(self) -> None:
        self.counts.fill_from(0)
        self.seen.fill_from(0)

    def found(self) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        """How often each node ran, and how often each other had by the last time it began."""
        counts, seen = self.counts.to_numpy(), self.seen.to_numpy()
        names = list(enumerate(self.names))
        return (
            {name: int(counts[i]) for i, name in names},
            {name: {other: int(seen[i, j]) for j, other in names} for i, name in names},
        )


def _access(node: Node[Any]) -> Iterator[Access]:
    for number, (array, mode) in enumerate(node.payload[1]):
        yield Access(name=f"p{number}", array=array, mode=mode)


def _lower(placed: Placed[Any], context: Any) -> Any:
    return placed.node.payload[0]


register(
    NodeKind(name="probe", access=_access, complete_access=True),
    Lowering(kind="probe", backend="gpu", lower=_lower),
)
