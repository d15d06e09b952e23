"""A CUDA graph while it is built: nodes go in after exactly the nodes they must wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from eagle_cuda.device import CudaDevice
from eagle_cuda.driver import api, call
from eagle_cuda.lifetime import Holdings
from eagle_cuda.parameters import check_parameters

__all__ = ["GraphBuilder", "kernel_parameters"]


class GraphBuilder:
    """Adds nodes to one graph of the driver.

    Node handles are plain integers. What a node waits for is reduced to what it does not wait for already by way of
    another one, so that no edge is there twice over.

    Parameters
    ----------
    graph : CUgraph
    device : CudaDevice
    stream : CUstream
        Where captures are made.
    holdings : Holdings
        Owns what the graph needs.
    in_body : bool
        Whether it is the body of a conditional.

    Attributes
    ----------
    around : int
        The device address of the word that ends the loop it is in, 0 if it is in none.
    """

    def __init__(
        self, graph: Any, device: CudaDevice, stream: Any, holdings: Holdings, *, in_body: bool = False
    ) -> None:
        self.graph = graph
        self.device = device
        self.stream = stream
        self.holdings = holdings
        self.in_body = in_body
        self.around = 0
        self._bits: dict[int, int] = {}
        self._ancestors: dict[int, int] = {}

    def inside(self, graph: Any) -> GraphBuilder:
        """Return the builder of a body, a graph that belongs to a conditional node of this one."""
        body = GraphBuilder(graph, self.device, self.stream, self.holdings, in_body=True)
        body.around = self.around
        return body

    # order ------------------------------------------------------------------------------------------------------------

    def needed(self, after: Iterable[int]) -> list[Any]:
        """Return the fewest of these nodes that a node has to wait for to wait for all of them."""
        unique = list(dict.fromkeys(after))
        if len(unique) > 1:
            reached = 0
            for node in unique:
                reached |= self._ancestors[node]
            unique = [node for node in unique if not self._bits[node] & reached]
        node_type = api().CUgraphNode
        return [node_type(node) for node in unique]

    def note(self, node: int, after: Iterable[int]) -> int:
        """Note that a node is in the graph now, and what it waits for."""
        ancestors = 0
        for earlier in after:
            ancestors |= self._ancestors[earlier] | self._bits[earlier]
        self._bits.setdefault(node, 1 << len(self._bits))
        self._ancestors[node] = ancestors
        return node

    # nodes ------------------------------------------------------------------------------------------------------------

    def kernel(
        self,
        function: Any,
        arguments: Sequence[tuple[Any, Any]],
        after: Sequence[int],
        *,
        threads: int,
        block: int = 256,
    ) -> int:
        """Add a kernel over `threads` threads, at least one; `arguments` are pairs of value and ctypes type."""
        check_parameters(function, [kind for _, kind in arguments], self.device.abilities)
        return self._add("cuGraphAddKernelNode", after, kernel_parameters(function, arguments, threads, block))

    def copy(self, parameters: Any, after: Sequence[int]) -> int:
        """Add a copy, given as ``CUDA_MEMCPY3D``."""
        return self._add("cuGraphAddMemcpyNode", after, parameters, self.device.context)

    def fill(self, address: int, count: int, value: int, after: Sequence[int]) -> int:
        """Add what sets `count` bytes."""
        parameters = api().CUDA_MEMSET_NODE_PARAMS()
        parameters.dst, parameters.value, parameters.elementSize = address, value, 1
        parameters.pitch, parameters.width, parameters.height = count, count, 1
        return self._add("cuGraphAddMemsetNode", after, parameters, self.device.context)

    def empty(self, after: Sequence[int]) -> int:
        """Add a node that does nothing but keep the order."""
        return self._add("cuGraphAddEmptyNode", after)

    def child(self, graph: Any, after: Sequence[int]) -> int:
        """Add a copy of another graph as one node."""
        return self._add("cuGraphAddChildGraphNode", after, graph)

    def condition(self) -> Any:
        """Make the handle that decides whether a conditional node of this graph runs; off until a kernel sets it."""
        return call("cuGraphConditionalHandleCreate", self.graph, self.device.context, 0, 0)

    def conditional(self, condition: Any, after: Sequence[int], *, loop: bool) -> tuple[int, GraphBuilder]:
        """Add a conditional node, and return it with the builder of its body."""
        driver = api()
        kinds = driver.CUgraphConditionalNodeType
        parameters = driver.CUgraphNodeParams()
        parameters.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        parameters.conditional.handle = condition
        parameters.conditional.type = kinds.CU_GRAPH_COND_TYPE_WHILE if loop else kinds.CU_GRAPH_COND_TYPE_IF
        parameters.conditional.size = 1
        parameters.conditional.ctx = self.device.context
        waits = self.needed(after)
        node = int(call("cuGraphAddNode", self.graph, waits or None, None, len(waits), parameters))
        return self.note(node, after), self.inside(parameters.conditional.phGraph_out[0])

    def given(self, add: Callable[[int, Sequence[int]], Sequence[int]], after: Sequence[int]) -> list[int]:
        """Have `add` put nodes into the graph after these; return the last ones, `after` itself when there are none."""
        tails = [int(node) for node in add(int(self.graph), [int(node) for node in self.needed(after)])]
        return [node if node in self._bits else self.note(node, after) for node in tails] or list(after)

    def _add(self, function: str, after: Sequence[int], *arguments: Any) -> int:
        waits = self.needed(after)
        return self.note(int(call(function, self.graph, waits or None, len(waits), *arguments)), after)


def kernel_parameters(function: Any, arguments: Sequence[tuple[Any, Any]], threads: int, block: int) -> Any:
    """Return what a kernel node is: a function over `threads` threads, and pairs of value and ctypes type."""
    block = min(threads, block)
    parameters = api().CUDA_KERNEL_NODE_PARAMS()
    parameters.func = function
    parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ = -(-threads // block), 1, 1
    parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ = block, 1, 1
    parameters.kernelParams = tuple(value for value, _ in arguments), tuple(kind for _, kind in arguments)
    return parameters
