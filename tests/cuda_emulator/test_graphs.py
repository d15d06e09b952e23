"""The rules of building graphs, each broken once."""

from __future__ import annotations

from typing import Any

import pytest
from cuda.bindings import driver as cu
from cuda_arrays import DeviceArray
from cuda_calls import (
    SEEDS,
    Type,
    add_conditional,
    add_kernel,
    add_node,
    child_params,
    code,
    done,
    ints,
    kernel_params,
    new_condition,
    new_event,
    new_graph,
    run,
    value,
)
from cuda_emulator import Emulator


def fill_params(array: DeviceArray, number: int, size: int = 4) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEMSET
    params.memset.dst, params.memset.value, params.memset.elementSize = array.address, number, size
    params.memset.width, params.memset.height = 1, 1
    return params


def copy_params(to: int, source: int, nbytes: int = 4, host: bool = False) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEMCPY
    copy, kinds = params.memcpy.copyParams, cu.CUmemorytype
    copy.srcMemoryType = kinds.CU_MEMORYTYPE_HOST if host else kinds.CU_MEMORYTYPE_DEVICE
    copy.dstMemoryType = kinds.CU_MEMORYTYPE_DEVICE
    copy.srcHost, copy.srcDevice, copy.dstDevice = source, source, to
    copy.WidthInBytes, copy.Height, copy.Depth = nbytes, 1, 1
    return params


def alloc_params(nbytes: int = 64) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC
    params.alloc.bytesize = nbytes
    params.alloc.poolProps.allocType = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    params.alloc.poolProps.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    return params


def free_params(address: int) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEM_FREE
    params.free.dptr = address
    return params


def memory_graph() -> Any:
    graph, params = new_graph(), alloc_params()
    node = done(add_node(graph, params))
    done(add_node(graph, free_params(int(params.alloc.dptr)), (node,)))
    return graph


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_are_kept(stream: Any, emulator: Emulator, seed: int) -> None:
    emulator.seed(seed)
    x, y, graph = ints(1), ints(0), new_graph()
    first = done(add_node(graph, fill_params(x, 4)))
    second = add_kernel(graph, "mul", x, 3, after=(first,))
    done(add_node(graph, copy_params(y.address, x.address), (second,)))
    run(graph, stream)
    assert value(y) == 12


def test_a_missing_edge_shows_under_some_seed(stream: Any, emulator: Emulator) -> None:
    seen = set()
    for seed in SEEDS:
        emulator.seed(seed)
        x, y, graph = ints(1), ints(0), new_graph()
        done(add_node(graph, fill_params(x, 4)))
        done(add_node(graph, copy_params(y.address, x.address)))
        run(graph, stream)
        seen.add(value(y))
    assert seen == {1, 4}


def test_a_missing_edge_to_the_end_of_a_long_chain_shows_too(stream: Any, emulator: Emulator) -> None:
    seen = set()
    for seed in SEEDS:
        emulator.seed(seed)
        x, y, z, graph = ints(1), ints(0), ints(0), new_graph()
        add_kernel(graph, "put", x, 4)  # nothing orders it before the end of the chain
        node = add_kernel(graph, "add", z, 1)
        for _ in range(20):
            node = add_kernel(graph, "add", z, 1, after=(node,))
        add_kernel(graph, "move", y, x, after=(node,))
        run(graph, stream)
        seen.add(value(y))
    assert seen == {1, 4}


def test_dependencies_are_of_the_graph_and_differ() -> None:
    x, graph, elsewhere = ints(1), new_graph(), new_graph()
    node, foreign = add_kernel(graph, "add", x, 1), add_kernel(elsewhere, "add", x, 1)
    params, _ = kernel_params("add", x, 1)
    assert code(add_node(graph, params, (foreign,))) == "INVALID_VALUE"
    assert code(add_node(graph, params, (node, node))) == "INVALID_VALUE"


def test_an_edge_is_added_and_removed_once() -> None:
    x, graph = ints(1), new_graph()
    a, b = add_kernel(graph, "add", x, 1), add_kernel(graph, "add", x, 1)
    done(cu.cuGraphAddDependencies(graph, [a], [b], None, 1))
    assert code(cu.cuGraphAddDependencies(graph, [a], [b], None, 1)) == "INVALID_VALUE"
    done(cu.cuGraphRemoveDependencies(graph, [a], [b], None, 1))
    assert code(cu.cuGraphRemoveDependencies(graph, [a], [b], None, 1)) == "INVALID_VALUE"


def test_a_cycle_is_found_at_instantiation() -> None:
    x, graph = ints(1), new_graph()
    a = add_kernel(graph, "add", x, 1)
    b = add_kernel(graph, "add", x, 1, after=(a,))
    done(cu.cuGraphAddDependencies(graph, [b], [a], None, 1))
    assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"


def test_a_node_lives_as_long_as_its_graph() -> None:
    x, graph = ints(1), new_graph()
    node = add_kernel(graph, "add", x, 1)
    done(cu.cuGraphDestroy(graph))
    assert code(cu.cuGraphNodeGetType(node)) == "INVALID_VALUE"
    assert code(cu.cuGraphDestroy(graph)) == "INVALID_VALUE"


def test_a_destroyed_node_leaves_the_others(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    a = add_kernel(graph, "add", x, 1)
    b = add_kernel(graph, "mul", x, 100, after=(a,))
    add_kernel(graph, "add", x, 1, after=(b,))
    done(cu.cuGraphDestroyNode(b))
    run(graph, stream)
    assert value(x) == 3


def test_a_clone_is_independent(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    node = add_kernel(graph, "add", x, 1)
    clone = done(cu.cuGraphClone(graph))
    twin = done(cu.cuGraphNodeFindInClone(node, clone))
    assert int(twin) != int(node)
    assert code(cu.cuGraphNodeFindInClone(twin, clone)) == "INVALID_VALUE"
    done(cu.cuGraphDestroy(graph))
    run(clone, stream)
    assert value(x) == 2


def test_a_child_is_cloned_in(stream: Any) -> None:
    x, graph, child = ints(1), new_graph(), new_graph()
    add_kernel(child, "add", x, 1)
    node = done(add_node(graph, child_params(child)))
    add_kernel(graph, "mul", x, 5, after=(node,))
    add_kernel(child, "add", x, 100)  # too late
    held = done(cu.cuGraphChildGraphNodeGetGraph(node))
    assert code(cu.cuGraphDestroy(held)) == "INVALID_VALUE"
    assert code(cu.cuGraphInstantiate(held, 0)) == "INVALID_VALUE"
    done(cu.cuGraphDestroy(child))
    run(graph, stream)
    assert value(x) == 10


def test_a_child_may_not_hold_conditionals_or_memory_nodes() -> None:
    graph, child = new_graph(), new_graph()
    add_conditional(child, new_condition(child, 1), "IF")
    assert code(add_node(graph, child_params(child))) == "INVALID_VALUE"
    assert code(add_node(graph, child_params(memory_graph()))) == "INVALID_VALUE"
    assert code(add_node(graph, child_params(graph))) == "INVALID_VALUE"


def test_a_child_with_memory_nodes_may_be_moved_in(stream: Any) -> None:
    graph, params = new_graph(), child_params(memory_graph())
    params.graph.ownership = cu.CUgraphChildGraphNodeOwnership.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
    done(add_node(graph, params))
    run(graph, stream)


def test_graphs_with_conditionals_or_memory_nodes_are_not_cloned() -> None:
    graph = new_graph()
    add_conditional(graph, new_condition(graph, 1), "IF")
    assert code(cu.cuGraphClone(graph)) == "INVALID_VALUE"
    assert code(cu.cuGraphClone(memory_graph())) == "INVALID_VALUE"


def test_graphs_with_memory_nodes_lose_nothing_and_are_instantiated_once() -> None:
    graph = memory_graph()
    (alloc, free), _ = done(cu.cuGraphGetNodes(graph, 2))
    assert code(cu.cuGraphDestroyNode(free)) == "INVALID_VALUE"
    assert code(cu.cuGraphRemoveDependencies(graph, [alloc], [free], None, 1)) == "INVALID_VALUE"
    executable = done(cu.cuGraphInstantiate(graph, 0))
    assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"
    done(cu.cuGraphExecDestroy(executable))
    done(cu.cuGraphExecDestroy(done(cu.cuGraphInstantiate(graph, 0))))


def test_memory_of_a_graph_is_there_between_its_two_nodes(stream: Any, emulator: Emulator) -> None:
    graph, out, params = new_graph(), ints(0), alloc_params()
    alloc = done(add_node(graph, params))
    address = int(params.alloc.dptr)
    inner = DeviceArray.__new__(DeviceArray)
    inner._address = address
    put = add_kernel(graph, "put", inner, 8, after=(alloc,))
    move = add_kernel(graph, "move", out, inner, after=(put,))
    done(add_node(graph, free_params(address), (move,)))
    run(graph, stream, times=2)
    assert value(out) == 8
    assert emulator.pending() == 0  # a real device, which ends the test here, would be lost to those after it
    add_kernel(graph, "put", inner, 1)  # nothing says after the allocation, and so, under some seed, it is before
    faults = 0
    for seed in SEEDS:
        cu_code = fault_of(graph, stream, seed)
        faults += cu_code == "ILLEGAL_ADDRESS"
    assert faults


def fault_of(graph: Any, stream: Any, seed: int) -> str:
    import cuda_emulator

    device = cuda_emulator.loaded()
    device.seed(seed)
    executable = done(cu.cuGraphInstantiate(graph, 0))
    done(cu.cuGraphLaunch(executable, stream))
    answer = code(cu.cuStreamSynchronize(stream))
    device.reset()
    done(cu.cuGraphExecDestroy(executable))
    return answer


def test_unfreed_memory_of_a_graph_forbids_a_second_launch(stream: Any) -> None:
    graph = new_graph()
    done(add_node(graph, alloc_params()))
    executable = done(cu.cuGraphInstantiate(graph, 0))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    assert code(cu.cuGraphLaunch(executable, stream)) == "INVALID_VALUE"
    done(cu.cuGraphExecDestroy(executable))
    flag = cu.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
    executable = done(cu.cuGraphInstantiate(graph, flag))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuGraphExecDestroy(executable))


@pytest.mark.parametrize("size", [0, 3, 8])
def test_a_fill_has_elements_of_one_two_or_four_bytes(size: int) -> None:
    assert code(add_node(new_graph(), fill_params(ints(1, 2), 0, size))) == "INVALID_VALUE"


def test_a_copy_or_fill_outside_an_allocation_is_refused() -> None:
    graph, x = new_graph(), ints(1)
    assert code(add_node(graph, copy_params(x.address, x.address, 4096))) == "INVALID_VALUE"
    assert code(add_node(graph, copy_params(x.address, 4096))) == "INVALID_VALUE"
    params = fill_params(x, 0)
    params.memset.width = 1000
    assert code(add_node(graph, params)) == "INVALID_VALUE"


def test_an_event_record_node_and_a_wait_node_meet_the_streams(stream: Any, other: Any, emulator: Emulator) -> None:
    for seed in SEEDS:
        emulator.seed(seed)
        event, x, graph = new_event(), ints(1), new_graph()
        node = add_kernel(graph, "put", x, 2)
        params = cu.CUgraphNodeParams()
        params.type = Type.CU_GRAPH_NODE_TYPE_EVENT_RECORD
        params.eventRecord.event = event
        done(add_node(graph, params, (node,)))
        executable = done(cu.cuGraphInstantiate(graph, 0))
        done(cu.cuGraphLaunch(executable, stream))
        done(cu.cuStreamWaitEvent(other, event, 0))
        done(cu.cuStreamSynchronize(other))
        assert value(x) == 2
        done(cu.cuGraphExecDestroy(executable))


def test_everything_is_counted_and_goes(emulator: Emulator) -> None:
    before = emulator.live()
    x, graph, child = ints(1), new_graph(), new_graph()
    add_kernel(child, "add", x, 1)
    done(add_node(graph, child_params(child)))
    add_conditional(graph, new_condition(graph, 1), "WHILE")
    executable = done(cu.cuGraphInstantiate(graph, 0))
    live = emulator.live()
    assert (live["graphs"] - before["graphs"], live["execs"] - before["execs"]) == (2, 1)
    for handle in (graph, child):
        done(cu.cuGraphDestroy(handle))
    done(cu.cuGraphExecDestroy(executable))
    del x
    assert emulator.live() == before


@pytest.mark.emulator_only
def test_edges_of_other_kinds_than_full_order_are_refused() -> None:
    x, graph, data = ints(1), new_graph(), cu.CUgraphEdgeData()
    node = add_kernel(graph, "add", x, 1)
    data.type = cu.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
    params, _ = kernel_params("add", x, 1)
    assert code(cu.cuGraphAddNode(graph, [node], [data], 1, params)) == "NOT_SUPPORTED"


def test_unknown_flags_are_refused() -> None:
    assert code(cu.cuGraphCreate(1)) == "INVALID_VALUE"
    context = done(cu.cuCtxGetCurrent())
    assert code(cu.cuGraphConditionalHandleCreate(new_graph(), context, 0, 8)) == "INVALID_VALUE"


def test_a_child_that_is_moved_in_has_no_other_owner() -> None:
    graph, child = new_graph(), new_graph()
    params = child_params(child)
    params.graph.ownership = cu.CUgraphChildGraphNodeOwnership.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
    done(add_node(graph, params))
    assert code(add_node(new_graph(), params)) == "INVALID_VALUE"
