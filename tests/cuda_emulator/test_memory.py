"""Rules of memory, each broken once."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda_arrays import DeviceArray
from cuda_calls import code, done, ints, launch, new_stream, value
from cuda_emulator import Emulator

CRASH = """
import cuda_emulator
cuda_emulator.load()
import ctypes
from cuda_arrays import DeviceArray
array = DeviceArray([1, 2, 3])
print(ctypes.c_int.from_address(array.address).value)
"""


@pytest.mark.emulator_only
def test_fresh_memory_is_not_zero() -> None:
    assert set(DeviceArray.empty(64, np.uint8).to_numpy()) == {0xCB}


def test_an_allocation_of_nothing_is_refused() -> None:
    assert code(cu.cuMemAlloc(0)) == "INVALID_VALUE"


@pytest.mark.emulator_only
def test_more_than_the_device_has_is_refused() -> None:
    assert code(cu.cuMemAlloc(9 << 30)) == "OUT_OF_MEMORY"


@pytest.mark.emulator_only
def test_the_host_crashes_when_it_reads_device_memory_and_is_told_why() -> None:
    lib = Path(__file__).parents[1] / "lib"
    program = f"import sys; sys.path.insert(0, {str(lib)!r}){CRASH}"
    crashed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert crashed.returncode < 0
    assert crashed.stdout == ""
    assert "the host touched device memory" in crashed.stderr


def test_pinned_and_managed_memory_are_the_hosts_as_well() -> None:
    pinned = int(done(cu.cuMemHostAlloc(4, 0)))
    managed = int(done(cu.cuMemAllocManaged(4, 1)))
    for address in (pinned, managed):
        ctypes.c_int.from_address(address).value = 7
        assert ctypes.c_int.from_address(address).value == 7
    done(cu.cuMemFreeHost(pinned))
    done(cu.cuMemFree(managed))


@pytest.mark.emulator_only
def test_freed_memory_is_no_memory() -> None:
    address = int(done(cu.cuMemAlloc(16)))
    done(cu.cuMemFree(address))
    assert code(cu.cuMemFree(address)) == "INVALID_VALUE"
    assert code(cu.cuMemsetD8Async(address, 0, 16, 0)) == "INVALID_VALUE"
    assert int(done(cu.cuMemAlloc(16))) != address


@pytest.mark.emulator_only
def test_a_kernel_that_touches_freed_memory_ends_the_context(stream: Any, emulator: Emulator) -> None:
    array = ints(1)
    launch(stream, "add", array, 1)
    done(cu.cuStreamSynchronize(stream))
    stale = DeviceArray.__new__(DeviceArray)
    stale._address = array.address
    del array
    done(launch(stream, "add", stale, 1))
    assert code(cu.cuStreamSynchronize(stream)) == "ILLEGAL_ADDRESS"
    assert code(cu.cuMemAlloc(4)) == "ILLEGAL_ADDRESS"  # and everything after it
    emulator.reset()
    done(cu.cuMemFree(done(cu.cuMemAlloc(4))))


@pytest.mark.emulator_only
def test_a_kernel_that_runs_over_the_end_of_its_array_faults(stream: Any) -> None:
    array = ints(*range(64))
    done(launch(stream, "index", array, 1024, grid=32, block=32))
    assert code(cu.cuStreamSynchronize(stream)) == "ILLEGAL_ADDRESS"


def test_a_copy_may_not_reach_over_the_end_of_an_array() -> None:
    array = ints(1, 2)
    host = np.zeros(4, np.int32)
    assert code(cu.cuMemcpyDtoH(host.ctypes.data, array.address, 16)) == "INVALID_VALUE"


@pytest.mark.parametrize("seed", range(3))
def test_memory_freed_while_work_is_in_flight_lasts_until_that_is_done(
    stream: Any, emulator: Emulator, seed: int
) -> None:
    emulator.seed(seed)
    out, array = ints(0), ints(5)
    launch(stream, "move", out, array)
    before = emulator.live()["allocations"]
    del array
    assert emulator.live()["allocations"] == before - 1
    done(cu.cuStreamSynchronize(stream))
    assert value(out) == 5


def test_memory_of_a_stream_is_counted_until_it_is_given_back(stream: Any, emulator: Emulator) -> None:
    before = emulator.live()["allocations"]
    address = done(cu.cuMemAllocAsync(64, stream))
    assert emulator.live()["allocations"] == before + 1
    done(cu.cuMemFreeAsync(address, stream))
    assert emulator.live()["allocations"] == before


def test_a_pointer_says_whose_it_is() -> None:
    array = ints(1)
    names = cu.CUpointer_attribute
    assert done(cu.cuPointerGetAttribute(names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, array.address)) == 0
    done(cu.cuCtxSetCurrent(done(cu.cuDevicePrimaryCtxRetain(1))))
    elsewhere = ints(2)
    assert done(cu.cuPointerGetAttribute(names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, elsewhere.address)) == 1
    assert code(cu.cuPointerGetAttribute(names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 4096)) == "INVALID_VALUE"


def test_pageable_memory_may_be_changed_once_the_copy_is_enqueued(stream: Any) -> None:
    host, array = np.array([3], np.int32), ints(0)
    done(cu.cuMemcpyHtoDAsync(array.address, host.ctypes.data, 4, stream))
    host[0] = 99
    done(cu.cuStreamSynchronize(stream))
    assert value(array) == 3


@pytest.mark.emulator_only
def test_things_can_be_released_after_a_fault(emulator: Emulator) -> None:
    before, array = emulator.live(), ints(*range(64))
    faulty = new_stream()
    done(launch(faulty, "index", array, 1024, grid=32, block=32))
    assert code(cu.cuStreamSynchronize(faulty)) == "ILLEGAL_ADDRESS"
    assert code(cu.cuStreamDestroy(faulty)) == "ILLEGAL_ADDRESS"
    del array
    emulator.reset()
    assert emulator.live() == before
