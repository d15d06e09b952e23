"""Kernels: their order of threads, barriers and shared memory, images, and the runtime compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda.core import Device, LaunchConfig, Program, ProgramOptions
from cuda.core import launch as core_launch
from cuda_arrays import DeviceArray
from cuda_calls import SEEDS, code, compile_source, done, function, ints, launch, value
from cuda_emulator import Emulator

BARRIERS = r"""
extern "C" __global__ void __launch_bounds__(64) reverse(int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void careless(int* x) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  // no barrier here
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
}
extern "C" __global__ void rotate(int* x, int rounds) {
  extern __shared__ int tile[];
  int mine = x[threadIdx.x];
  for (int i = 0; i < rounds; ++i) {
    tile[threadIdx.x] = mine;
    __syncthreads();
    mine = tile[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
  }
  x[threadIdx.x] = mine;
}
"""

ARITHMETIC = r"""
template <class T> __global__ void scale(T* x, T by) { *x = *x * by; }
extern "C" __global__ void twice(double* x, double a, double b, double c) {
  x[0] = a * b + c;
  x[1] = __fma_rn(a, b, c);
}
"""


def core_stream() -> Any:
    device = Device(0)
    device.set_current()
    return device.create_stream()


def test_blocks_and_threads_run_in_any_order(stream: Any, emulator: Emulator) -> None:
    orders = set()
    for seed in SEEDS:
        emulator.seed(seed)
        order, following = DeviceArray(np.full(12, -1, np.int32)), ints(0)
        done(launch(stream, "arrive", order, following, grid=3, block=4))
        done(cu.cuStreamSynchronize(stream))
        seen = tuple(order.to_numpy().tolist())
        assert sorted(seen) == list(range(12))
        orders.add(seen)
    assert len(orders) > 3


def test_threads_meet_at_barriers(emulator: Emulator) -> None:
    module, stream = compile_source(BARRIERS), core_stream()
    for seed in SEEDS:
        emulator.seed(seed)
        array = DeviceArray(np.arange(64, dtype=np.int32))
        core_launch(stream, LaunchConfig(grid=1, block=64), module.get_kernel("reverse"), array.address)
        stream.sync()
        assert array.to_numpy().tolist() == list(range(63, -1, -1))
        config = LaunchConfig(grid=1, block=64, shmem_size=256)
        core_launch(stream, config, module.get_kernel("rotate"), array.address, np.int32(5))
        stream.sync()
        assert array.to_numpy().tolist() == np.roll(np.arange(63, -1, -1), -5).tolist()


@pytest.mark.emulator_only
def test_a_missing_barrier_shows(emulator: Emulator) -> None:
    module, stream = compile_source(BARRIERS), core_stream()
    array = DeviceArray(np.arange(64, dtype=np.int32))
    config = LaunchConfig(grid=1, block=64, shmem_size=256)
    core_launch(stream, config, module.get_kernel("careless"), array.address)
    stream.sync()
    assert array.to_numpy().tolist() != list(range(63, -1, -1))


def test_nothing_is_contracted_unless_the_source_says_so() -> None:
    module, stream = compile_source(ARITHMETIC), core_stream()
    a, b, c = 1.0 + 2.0**-30, 1.0 - 2.0**-30, -1.0
    array = DeviceArray(np.zeros(2))
    kernel = module.get_kernel("twice")
    numbers = (np.float64(a), np.float64(b), np.float64(c))
    core_launch(stream, LaunchConfig(grid=1, block=1), kernel, array.address, *numbers)
    stream.sync()
    assert array.to_numpy().tolist() == [0.0, -(2.0**-60)]


def test_templates_are_found_by_their_expression() -> None:
    program = Program(ARITHMETIC, "c++", ProgramOptions(arch=f"sm_{Device(0).arch}"))
    module = program.compile("cubin", name_expressions=("scale<float>", "scale<int>"))
    stream, array = core_stream(), DeviceArray(np.array([3.0], np.float32))
    config = LaunchConfig(grid=1, block=1)
    core_launch(stream, config, module.get_kernel("scale<float>"), array.address, np.float32(2.5))
    stream.sync()
    assert array.to_numpy().tolist() == [7.5]


def test_a_source_that_does_not_compile_says_where() -> None:
    with pytest.raises(Exception, match="nowhere"):
        compile_source('extern "C" __global__ void broken(int* x) { *x = nowhere; }')


@pytest.mark.parametrize(
    ("image", "answer"),
    [
        (b".version 8.0\n.target sm_90\n", "INVALID_PTX"),
        (b".version 99.0\n.target sm_90\n", "UNSUPPORTED_PTX_VERSION"),
        (b"\x7fELF" + bytes(14) + (190).to_bytes(2, "little") + bytes(44), "NO_BINARY_FOR_GPU"),
        (b"neither" + bytes(64), "INVALID_IMAGE"),
    ],
    ids=["ptx", "newer ptx", "cubin", "other"],
)
@pytest.mark.emulator_only
def test_compiled_output_of_nvidias_is_not_run(image: bytes, answer: str) -> None:
    assert code(cu.cuModuleLoadData(image)) == answer


@pytest.mark.parametrize(
    ("grid", "block"),
    [((0, 1, 1), (1, 1, 1)), ((1, 1, 1), (0, 1, 1)), ((1, 1, 1), (1025, 1, 1)), ((1, 65536, 1), (1, 1, 1))],
)
def test_a_shape_the_device_has_not_is_refused(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    assert code(cu.cuLaunchKernel(function("add"), *grid, *block, 0, 0, 0, 0)) == "INVALID_VALUE"


def test_more_dynamic_shared_memory_has_to_be_asked_for() -> None:
    array = ints(1)
    kernel, pointers = function("add"), np.array([0, 0], np.uint64)
    numbers: list[Any] = [np.array([array.address], np.uint64), np.array([1], np.int32)]
    pointers[:] = [number.ctypes.data for number in numbers]
    wanted = (1, 1, 1, 1, 1, 1, 60000, 0, pointers.ctypes.data, 0)
    assert code(cu.cuLaunchKernel(kernel, *wanted)) == "INVALID_VALUE"
    name = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    done(cu.cuFuncSetAttribute(kernel, name, 64000))
    done(cu.cuLaunchKernel(kernel, *wanted))
    assert value(array) == 2


def test_parameters_have_to_be_given() -> None:
    assert code(cu.cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)) == "INVALID_VALUE"


def test_a_module_is_counted_and_may_go_before_its_launch_has_run(stream: Any, emulator: Emulator) -> None:
    array = ints(1)
    image = compile_source('extern "C" __global__ void late(int* x) { *x += 41; }').code
    before = emulator.live()["modules"]
    module = done(cu.cuModuleLoadData(image))
    assert emulator.live()["modules"] == before + 1
    assert code(cu.cuModuleGetFunction(module, b"missing")) == "NOT_FOUND"
    kernel = done(cu.cuModuleGetFunction(module, b"late"))
    address = np.array([array.address], np.uint64)
    pointers = np.array([address.ctypes.data], np.uint64)
    done(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, pointers.ctypes.data, 0))
    done(cu.cuModuleUnload(module))
    assert emulator.live()["modules"] == before
    late = cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, pointers.ctypes.data, 0)
    assert code(late) == "INVALID_HANDLE"
    done(cu.cuStreamSynchronize(stream))
    assert value(array) == 42
    assert code(cu.cuModuleUnload(module)) == "INVALID_HANDLE"
