"""Calls of the CUDA driver as the emulator's own tests make them: results checked, handles closed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from cuda.core import Device, ObjectCode, Program, ProgramOptions
from cuda_arrays import DeviceArray

Result = cu.CUresult
Mode = cu.CUstreamCaptureMode
GLOBAL, THREAD_LOCAL = Mode.CU_STREAM_CAPTURE_MODE_GLOBAL, Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
RELAXED = Mode.CU_STREAM_CAPTURE_MODE_RELAXED
Type = cu.CUgraphNodeType
SEEDS = range(6)

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);

extern "C" __global__ void add(int* x, int v) { *x += v; }
extern "C" __global__ void mul(int* x, int v) { *x *= v; }
extern "C" __global__ void put(int* x, int v) { *x = v; }
extern "C" __global__ void move(int* to, const int* from) { *to = *from; }
extern "C" __global__ void set(cudaGraphConditionalHandle handle, const int* x) { cudaGraphSetConditional(handle, *x); }
extern "C" __global__ void below(cudaGraphConditionalHandle handle, const int* x, int limit) {
  cudaGraphSetConditional(handle, *x < limit);
}
extern "C" __global__ void stamp(int* at, int* clock) { *at = ++*clock; }
extern "C" __global__ void index(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}
extern "C" __global__ void arrive(int* order, int* next) {
  order[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}
"""

_code: ObjectCode | None = None


def done(result: tuple[Any, ...]) -> Any:
    """Return what a successful call gave."""
    assert result[0] == Result.CUDA_SUCCESS, result[0]
    values = result[1:]
    return values[0] if len(values) == 1 else values or None


def code(result: tuple[Any, ...]) -> str:
    """Return the name of a call's result, without its beginning."""
    return str(result[0].name).removeprefix("CUDA_ERROR_").removeprefix("CUDA_")


def new_stream(blocking: bool = False) -> Any:
    flags = cu.CUstream_flags
    return done(cu.cuStreamCreate(flags.CU_STREAM_DEFAULT if blocking else flags.CU_STREAM_NON_BLOCKING))


def new_event(timed: bool = False) -> Any:
    flags = cu.CUevent_flags
    return done(cu.cuEventCreate(flags.CU_EVENT_DEFAULT if timed else flags.CU_EVENT_DISABLE_TIMING))


def ints(*values: int) -> DeviceArray:
    return DeviceArray(np.array(values, np.int32))


def value(array: DeviceArray) -> int:
    return int(array.to_numpy()[0])


def compile_source(source: str) -> ObjectCode:
    """Compile CUDA C++ as eagle does: by NVRTC, to the device's own architecture."""
    return Program(source, "c++", ProgramOptions(arch=f"sm_{Device(0).arch}")).compile("cubin")


def function(name: str) -> Any:
    """Return a kernel of `SOURCE`; the current context must be that of device 0."""
    global _code
    if _code is None:
        _code = compile_source(SOURCE)
    return cu.CUfunction(int(_code.get_kernel(name).handle))


class Arguments:
    """Arguments of a kernel in the form the driver takes: a device array, a condition handle, or an int."""

    def __init__(self, *values: Any) -> None:
        self.values = [self._typed(item) for item in values]
        self.pointers = np.array([item.ctypes.data for item in self.values], np.uint64)

    @property
    def address(self) -> int:
        return int(self.pointers.ctypes.data)

    @staticmethod
    def _typed(item: Any) -> np.ndarray[Any, Any]:
        if isinstance(item, DeviceArray):
            return np.array([item.address], np.uint64)
        if isinstance(item, cu.CUgraphConditionalHandle):
            return np.array([int(item)], np.uint64)
        return np.array([item], np.int32)


def launch(stream: Any, name: str, *values: Any, grid: int = 1, block: int = 1) -> Any:
    """Launch a kernel of `SOURCE`; returns the result of the call."""
    arguments = Arguments(*values)
    return cu.cuLaunchKernel(function(name), grid, 1, 1, block, 1, 1, 0, stream, arguments.address, 0)


def kernel_params(name: str, *values: Any) -> tuple[Any, Arguments]:
    """Return node parameters, and what has to live until they are used."""
    arguments = Arguments(*values)
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_KERNEL
    kernel = params.kernel
    kernel.func = function(name)
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1
    kernel.kernelParams = arguments.address
    return params, arguments


def add_node(graph: Any, params: Any, after: tuple[Any, ...] = ()) -> Any:
    """Add a node; returns the result of the call."""
    return cu.cuGraphAddNode(graph, list(after) or None, None, len(after), params)


def add_kernel(graph: Any, name: str, *values: Any, after: tuple[Any, ...] = ()) -> Any:
    params, arguments = kernel_params(name, *values)
    node = done(add_node(graph, params, after))
    del arguments
    return node


def child_params(child: Any) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_GRAPH
    params.graph.graph = child
    return params


def conditional_params(handle: Any, kind: str, size: int = 1) -> Any:
    params = cu.CUgraphNodeParams()
    params.type = Type.CU_GRAPH_NODE_TYPE_CONDITIONAL
    params.conditional.handle = handle
    params.conditional.type = getattr(cu.CUgraphConditionalNodeType, f"CU_GRAPH_COND_TYPE_{kind}")
    params.conditional.size = size
    params.conditional.ctx = done(cu.cuCtxGetCurrent())
    return params


def new_condition(graph: Any, default: int | None = None) -> Any:
    flags = 0 if default is None else cu.CU_GRAPH_COND_ASSIGN_DEFAULT
    return done(cu.cuGraphConditionalHandleCreate(graph, done(cu.cuCtxGetCurrent()), default or 0, flags))


def add_conditional(graph: Any, handle: Any, kind: str, size: int = 1, after: tuple[Any, ...] = ()) -> tuple[Any, Any]:
    """Add a conditional node; returns it and the list of its bodies."""
    params = conditional_params(handle, kind, size)
    node = done(add_node(graph, params, after))
    return node, [params.conditional.phGraph_out[i] for i in range(size)]


def new_graph() -> Any:
    return done(cu.cuGraphCreate(0))


def run(graph: Any, stream: Any, times: int = 1) -> None:
    """Instantiate, launch, wait, destroy the executable."""
    executable = done(cu.cuGraphInstantiate(graph, 0))
    for _ in range(times):
        done(cu.cuGraphLaunch(executable, stream))
    done(cu.cuStreamSynchronize(stream))
    done(cu.cuGraphExecDestroy(executable))
