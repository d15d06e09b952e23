"""Conditional nodes: what runs, and the rules of handles and bodies, each broken once."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from cuda.bindings import driver as cu
from cuda_calls import (
    SEEDS,
    THREAD_LOCAL,
    Type,
    add_conditional,
    add_kernel,
    add_node,
    child_params,
    code,
    conditional_params,
    done,
    ints,
    launch,
    new_condition,
    new_event,
    new_graph,
    run,
    value,
)
from cuda_emulator import Emulator

needs_else = pytest.mark.skipif("config.getoption('--driver') in ('12.2', '12.4')", reason="came with 12.8")


@pytest.mark.parametrize(("given", "expected"), [(0, 1), (1, 2), (5, 2)])
def test_if_runs_its_body_when_the_value_is_not_zero(stream: Any, given: int, expected: int) -> None:
    x, graph = ints(1), new_graph()
    _, (body,) = add_conditional(graph, new_condition(graph, given), "IF")
    add_kernel(body, "add", x, 1)
    run(graph, stream)
    assert value(x) == expected


@needs_else
@pytest.mark.parametrize(("given", "expected"), [(0, 10), (1, 2)])
def test_if_else_runs_one_of_two(stream: Any, given: int, expected: int) -> None:
    x, graph = ints(1), new_graph()
    _, (then, otherwise) = add_conditional(graph, new_condition(graph, given), "IF", 2)
    add_kernel(then, "put", x, 2)
    add_kernel(otherwise, "put", x, 10)
    run(graph, stream)
    assert value(x) == expected


@needs_else
@pytest.mark.parametrize(("given", "expected"), [(0, 10), (1, 11), (2, 12), (3, 1), (99, 1)])
def test_switch_runs_the_body_of_the_value_or_none(stream: Any, given: int, expected: int) -> None:
    x, graph = ints(1), new_graph()
    _, bodies = add_conditional(graph, new_condition(graph, given), "SWITCH", 3)
    for i, body in enumerate(bodies):
        add_kernel(body, "put", x, 10 + i)
    run(graph, stream)
    assert value(x) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_while_runs_until_a_kernel_of_its_body_says_so(stream: Any, emulator: Emulator, seed: int) -> None:
    emulator.seed(seed)
    i, graph = ints(0), new_graph()
    handle = new_condition(graph, 1)
    loop, (body,) = add_conditional(graph, handle, "WHILE")
    step = add_kernel(body, "add", i, 1)
    add_kernel(body, "below", handle, i, 5, after=(step,))
    add_kernel(graph, "mul", i, 10, after=(loop,))
    run(graph, stream)
    assert value(i) == 50


def test_a_condition_set_too_early_in_a_body_shows_under_some_seed(stream: Any, emulator: Emulator) -> None:
    seen = set()
    for seed in SEEDS:
        emulator.seed(seed)
        i, graph = ints(0), new_graph()
        handle = new_condition(graph, 1)
        _, (body,) = add_conditional(graph, handle, "WHILE")
        add_kernel(body, "add", i, 1)
        add_kernel(body, "below", handle, i, 5)  # no edge
        run(graph, stream)
        seen.add(value(i))
    assert len(seen) > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_nest(stream: Any, emulator: Emulator, seed: int) -> None:
    emulator.seed(seed)
    i, j, n, graph = ints(0), ints(0), ints(0), new_graph()
    outer = new_condition(graph, 1)
    _, (body,) = add_conditional(graph, outer, "WHILE")
    inner = new_condition(body)
    zero = add_kernel(body, "put", j, 0)
    ready = add_kernel(body, "below", inner, j, 4, after=(zero,))
    loop, (nested,) = add_conditional(body, inner, "WHILE", after=(ready,))
    add_kernel(nested, "add", n, 1)
    step = add_kernel(nested, "add", j, 1)
    add_kernel(nested, "below", inner, j, 4, after=(step,))
    counted = add_kernel(body, "add", i, 1, after=(loop,))
    add_kernel(body, "below", outer, i, 3, after=(counted,))
    run(graph, stream)
    assert (value(n), value(i)) == (12, 3)


def test_a_default_is_applied_once_a_launch_and_not_once_a_round(stream: Any) -> None:
    i, n, graph = ints(0), ints(0), new_graph()
    outer = new_condition(graph, 1)
    _, (body,) = add_conditional(graph, outer, "WHILE")
    inner = new_condition(body, 1)
    guarded, (then,) = add_conditional(body, inner, "IF")
    first = add_kernel(then, "add", n, 1)
    zero = ints(0)
    add_kernel(then, "set", inner, zero, after=(first,))
    step = add_kernel(body, "add", i, 1, after=(guarded,))
    add_kernel(body, "below", outer, i, 3, after=(step,))
    run(graph, stream)
    assert value(n) == 1


def test_a_condition_without_a_default_may_be_anything_at_first(stream: Any, emulator: Emulator) -> None:
    seen = set()
    for seed in range(12):
        emulator.seed(seed)
        x, graph = ints(1), new_graph()
        _, (body,) = add_conditional(graph, new_condition(graph), "IF")
        add_kernel(body, "add", x, 1)
        run(graph, stream)
        seen.add(value(x))
    assert seen == {1, 2}


def test_bodies_take_children_and_captured_pieces(stream: Any, emulator: Emulator) -> None:
    for seed in SEEDS:
        emulator.seed(seed)
        x, graph, child = ints(1), new_graph(), new_graph()
        add_kernel(child, "mul", x, 7)
        _, (body,) = add_conditional(graph, new_condition(graph, 1), "IF")
        done(cu.cuStreamBeginCaptureToGraph(stream, body, None, None, 0, THREAD_LOCAL))
        done(launch(stream, "add", x, 1))
        tips = done(cu.cuStreamGetCaptureInfo(stream))[3]
        done(cu.cuStreamEndCapture(stream))
        done(add_node(body, child_params(child), tuple(tips)))
        run(graph, stream)
        assert value(x) == 14


def host_params() -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_HOST
    params.host.fn = cu.CUhostFn(ctypes.cast(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(print), ctypes.c_void_p).value)
    return params


def event_params() -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_EVENT_RECORD
    params.eventRecord.event = new_event()
    return params


def alloc_params() -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_MEM_ALLOC
    params.alloc.bytesize = 4
    params.alloc.poolProps.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    return params


@pytest.mark.parametrize("params", [host_params, event_params, alloc_params], ids=["host", "event", "allocation"])
@pytest.mark.parametrize("depth", ["body", "child of a body", "nested body"])
def test_a_body_holds_kernels_copies_fills_children_and_conditionals_only(params: Any, depth: str) -> None:
    graph = new_graph()
    _, (body,) = add_conditional(graph, new_condition(graph, 1), "IF")
    if depth == "nested body":
        _, (body,) = add_conditional(body, new_condition(body, 1), "WHILE")
    if depth == "child of a body":
        child = new_graph()
        done(add_node(child, params()))
        if params is not alloc_params:  # which cannot be a child at all
            done(add_node(body, child_params(child)))
            assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"
        return
    done(add_node(body, params()))
    assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"


def test_a_body_copies_no_pageable_memory(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    _, (body,) = add_conditional(graph, new_condition(graph, 1), "IF")
    done(cu.cuStreamBeginCaptureToGraph(stream, body, None, None, 0, THREAD_LOCAL))
    host = (ctypes.c_int * 1)(7)
    done(cu.cuMemcpyHtoDAsync(x.address, ctypes.addressof(host), 4, stream))
    done(cu.cuStreamEndCapture(stream))
    assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"


def test_a_body_copies_pinned_memory(stream: Any) -> None:
    x, graph = ints(1), new_graph()
    pinned = int(done(cu.cuMemHostAlloc(4, 0)))
    ctypes.c_int.from_address(pinned).value = 7
    _, (body,) = add_conditional(graph, new_condition(graph, 1), "IF")
    done(cu.cuStreamBeginCaptureToGraph(stream, body, None, None, 0, THREAD_LOCAL))
    done(cu.cuMemcpyHtoDAsync(x.address, pinned, 4, stream))
    done(cu.cuStreamEndCapture(stream))
    run(graph, stream)
    assert value(x) == 7
    done(cu.cuMemFreeHost(pinned))


def test_a_handle_is_for_one_node_of_its_own_graph() -> None:
    graph, elsewhere = new_graph(), new_graph()
    handle = new_condition(graph, 1)
    assert code(add_node(elsewhere, conditional_params(handle, "IF"))) == "INVALID_VALUE"
    done(add_node(graph, conditional_params(handle, "IF")))
    assert code(add_node(graph, conditional_params(handle, "IF"))) == "INVALID_VALUE"


def test_a_handle_that_no_node_uses_fails_the_instantiation() -> None:
    graph = new_graph()
    new_condition(graph, 1)
    assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"


@pytest.mark.parametrize(("kind", "size"), [("WHILE", 0), ("WHILE", 2), ("IF", 0), ("IF", 3), ("SWITCH", 0)])
def test_each_kind_has_its_number_of_bodies(kind: str, size: int) -> None:
    graph = new_graph()
    params = conditional_params(new_condition(graph, 1), kind, size)
    assert code(add_node(graph, params)) == "INVALID_VALUE"


def test_a_handle_keeps_its_context() -> None:
    graph = new_graph()
    params = conditional_params(new_condition(graph, 1), "IF")
    params.conditional.ctx = done(cu.cuDevicePrimaryCtxRetain(1))
    assert code(add_node(graph, params)) == "INVALID_VALUE"


def test_kernels_of_a_body_are_of_the_handles_context() -> None:
    here, x = done(cu.cuCtxGetCurrent()), ints(1)
    elsewhere = done(cu.cuDevicePrimaryCtxRetain(1))
    graph = new_graph()
    handle = done(cu.cuGraphConditionalHandleCreate(graph, elsewhere, 1, cu.CU_GRAPH_COND_ASSIGN_DEFAULT))
    params = conditional_params(handle, "IF")
    params.conditional.ctx = elsewhere
    done(add_node(graph, params))
    add_kernel(params.conditional.phGraph_out[0], "add", x, 1)
    assert int(done(cu.cuCtxGetCurrent())) == int(here)
    assert code(cu.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"


@pytest.mark.emulator_only
def test_a_kernel_may_not_set_a_handle_that_is_gone(stream: Any) -> None:
    one, graph = ints(1), new_graph()
    handle = new_condition(graph, 1)
    done(cu.cuGraphDestroy(graph))
    done(launch(stream, "set", handle, one))
    assert code(cu.cuStreamSynchronize(stream)) == "ILLEGAL_ADDRESS"


def test_two_launches_of_one_loop_do_not_mix(stream: Any, other: Any, emulator: Emulator) -> None:
    for seed in SEEDS:
        emulator.seed(seed)
        i, graph = ints(0), new_graph()
        handle = new_condition(graph, 1)
        zero = add_kernel(graph, "put", i, 0)
        loop, (body,) = add_conditional(graph, handle, "WHILE", after=(zero,))
        step = add_kernel(body, "add", i, 1)
        add_kernel(body, "below", handle, i, 4, after=(step,))
        add_kernel(graph, "mul", i, 10, after=(loop,))
        executable = done(cu.cuGraphInstantiate(graph, 0))
        for where in (stream, other, stream):
            done(cu.cuGraphLaunch(executable, where))
        done(cu.cuStreamSynchronize(stream))
        assert value(i) == 40
        done(cu.cuGraphExecDestroy(executable))
