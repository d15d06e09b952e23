"""What a lowering of a stranger's can ask of the context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import cuda_frame
import numpy as np
import pytest
from cuda.bindings import driver

import eagle
from eagle.plugin import Access, Lowering, Node, NodeKind, Placed, Step, register
from eagle_cuda.context import CudaContext

Cuda = Any
Lower = Callable[[Any, CudaContext], Step]


def node(x: Any, lower: Lower) -> Node[Any]:
    """A node over one array that is lowered as it says."""
    return Node("cuda test", (x, lower))


def access(made: Node[Any]) -> Iterator[Access]:
    yield Access(name="x", array=made.payload[0], mode="rw")


def lowered(placed: Placed[Any], context: CudaContext) -> Step:
    x, lower = placed.node.payload
    made: Step = lower(x, context)
    return made


register(
    NodeKind(name="cuda test", access=access, complete_access=True),
    Lowering(kind="cuda test", backend="gpu", lower=lowered),
)


def filling(value: int) -> Lower:
    """Fill an array of bytes through the driver itself."""

    def add(x: Any) -> Callable[[int, Sequence[int]], Sequence[int]]:
        def nodes(graph: int, after: Sequence[int]) -> Sequence[int]:
            parameters = driver.CUDA_MEMSET_NODE_PARAMS()
            parameters.dst, parameters.value, parameters.elementSize = x.address, value, 1
            parameters.width, parameters.height = x.size, 1
            waits = [driver.CUgraphNode(one) for one in after]
            context = driver.cuCtxGetCurrent()[1]
            error, made = driver.cuGraphAddMemsetNode(driver.CUgraph(graph), waits, len(waits), parameters, context)
            assert error == 0
            return [int(made)]

        return nodes

    return lambda x, context: context.nodes(add(x))


def test_nodes_of_the_driver_stand_where_their_memory_puts_them(cuda: Cuda, seed: int) -> None:
    x, y = cuda.array([0, 0], np.uint8), cuda.array([9, 9], np.uint8)
    g = eagle.Graph().add_node(node(x, filling(5))).add_node(eagle.copy(x, into=y)).add_node(node(x, filling(6)))
    g.build().launch()
    np.testing.assert_array_equal(np.concatenate([x.to_numpy(), y.to_numpy()]), [6, 6, 5, 5])


def test_nodes_of_the_driver_run_in_a_loop(cuda: Cuda, seed: int) -> None:
    x, on = cuda.array([1], np.uint8), cuda.array([1], np.int32)
    loop = eagle.repeat_while((node(x, filling(5)), node(x, filling(0))), eagle.SkipGuard(x), 7)
    eagle.Graph().add_node(eagle.skippable(loop, eagle.SkipGuard.nonzero(on))).build().launch()
    assert (x.to_numpy()[0], loop.iterations, loop.hit_limit) == (0, 1, False)


def test_a_lowering_that_adds_no_nodes_keeps_the_order(cuda: Cuda, seed: int) -> None:
    x, y = cuda.array([0, 0], np.uint8), cuda.array([9, 9], np.uint8)
    g = eagle.Graph().add_node(node(x, filling(5)))
    g.add_node(node(x, lambda x, context: context.nodes(lambda graph, after: ())))
    g.add_node(eagle.copy(x, into=y)).build().launch()
    np.testing.assert_array_equal(y.to_numpy(), [5, 5])


def test_capture_gives_the_stream_and_changes_no_librarys(cuda: Cuda, seed: int) -> None:
    x, before = cuda.array([1.0]), cuda_frame.current()
    seen: list[tuple[int, int]] = []

    def lower(x: Any, context: CudaContext) -> Step:
        work = cuda.scale(x, 3.0, x)

        def record(stream: int) -> None:
            seen.append((stream, cuda_frame.current()))
            with cuda_frame.use(stream):
                work()

        return context.capture(record)

    eagle.Graph().add_node(node(x, lower)).build().launch(2)
    assert x.to_numpy()[0] == 9
    assert len(seen) == 1
    assert seen[0][0] != seen[0][1] == before


def test_host_code_is_a_stage_of_its_own(cuda: Cuda) -> None:
    x = cuda.array([1.0])
    calls: list[float] = []
    g = eagle.Graph().add_node(node(x, lambda x, context: context.call(cuda.shift(x, 1.0, x))))
    g.add_node(node(x, lambda x, context: context.host(lambda: calls.append(float(x.to_numpy()[0])))))
    g.build().launch(3)
    assert calls == [2.0, 3.0, 4.0]
    assert g.schedule == ("capture", "eager_host")


def test_a_step_of_another_backend_is_refused(cuda: Cuda) -> None:
    g = eagle.Graph().add_node(node(cuda.array([1.0]), lambda x, context: Step()), name="strange")
    with pytest.raises(eagle.BuildError, match="no step of backend 'gpu'"):
        g.build()


def test_the_context_says_which_device(cuda: Cuda) -> None:
    found: list[int] = []

    def lower(x: Any, context: CudaContext) -> Step:
        found.append(context.device)
        return context.call(lambda: None)

    eagle.Graph().add_node(node(cuda.array([1.0]), lower)).build()
    assert found == [0]
