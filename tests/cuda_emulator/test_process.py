"""The device and the process: initialisation, threads, a forked child, versions, two devices."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import cuda_emulator
import pytest
from cuda.bindings import driver as cu
from cuda_calls import GLOBAL, code, done, ints, launch, new_stream, value

LIB = Path(__file__).parents[1] / "lib"


def python(program: str) -> str:
    """Run a program that has the emulator to load; return what it printed."""
    path = {**os.environ, "PYTHONPATH": str(LIB)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=path)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_works_before_initialisation() -> None:
    program = """
import cuda_emulator; cuda_emulator.load("12.4", devices=3)
from cuda.bindings import driver as cu
print(int(cu.cuMemAlloc(4)[0]), int(cu.cuDeviceGetCount()[0]), int(cu.cuInit(1)[0]), int(cu.cuInit(0)[0]))
print(int(cu.cuMemAlloc(4)[0]), cu.cuDeviceGetCount()[1], cu.cuDriverGetVersion()[1])
"""
    assert python(program).split() == ["3", "3", "1", "0", "201", "3", "12040"]


def test_a_version_is_chosen_once() -> None:
    with pytest.raises(RuntimeError, match="for good"):
        cuda_emulator.load("12.2", devices=5)


def test_the_emulator_comes_before_the_bindings() -> None:
    program = """
import cuda.bindings.driver, cuda_emulator
try: cuda_emulator.load()
except RuntimeError as error: print(error)
"""
    assert "imported already" in python(program)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork in a process with threads, from Python 3.12
def test_a_forked_child_is_refused_even_while_the_parent_works() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, bytes([int(cu.cuMemAlloc(4)[0]), int(cu.cuCtxGetCurrent()[0])]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 2) == bytes([3, 3])  # CUDA_ERROR_NOT_INITIALIZED
    done(cu.cuMemFree(done(cu.cuMemAlloc(4))))


def test_any_thread_may_call() -> None:
    context, failures = done(cu.cuCtxGetCurrent()), []

    def work(seed: int) -> None:
        try:
            done(cu.cuCtxSetCurrent(context))
            stream, array = new_stream(), ints(0)
            for _ in range(20):
                done(launch(stream, "add", array, seed))
            done(cu.cuStreamSynchronize(stream))
            assert value(array) == 20 * seed
            done(cu.cuStreamDestroy(stream))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_thread_without_a_context_is_refused() -> None:
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(code(cu.cuMemAlloc(4))))
    thread.start()
    thread.join()
    assert answers == ["INVALID_CONTEXT"]


def test_contexts_are_pushed_and_popped() -> None:
    first, second = done(cu.cuCtxGetCurrent()), done(cu.cuDevicePrimaryCtxRetain(1))
    done(cu.cuCtxPushCurrent(second))
    assert int(done(cu.cuCtxGetDevice())) == 1
    assert int(done(cu.cuCtxPopCurrent())) == int(second)
    assert int(done(cu.cuCtxGetCurrent())) == int(first)


def test_a_device_that_is_not_there_is_refused() -> None:
    assert code(cu.cuDeviceGet(2)) == "INVALID_DEVICE"
    assert code(cu.cuDevicePrimaryCtxRetain(7)) == "INVALID_DEVICE"


@pytest.mark.emulator_only
def test_reset_ends_everything_in_flight(stream: Any, emulator: cuda_emulator.Emulator) -> None:
    array = ints(1)
    assert emulator.calls()["cuCtxSetCurrent"] > 0
    done(launch(stream, "add", array, 1))
    capturing = new_stream()
    done(cu.cuStreamBeginCapture(capturing, GLOBAL))
    emulator.reset()
    assert (emulator.pending(), emulator.live()["captures"], emulator.calls()) == (0, 0, {})
    done(cu.cuStreamSynchronize(stream))
    assert value(array) == 1
    assert emulator.calls()["cuStreamSynchronize"] == 1


@pytest.mark.emulator_only
def test_the_device_can_be_made_to_go_on(stream: Any, emulator: cuda_emulator.Emulator) -> None:
    array = ints(0)
    for _ in range(5):
        done(launch(stream, "add", array, 1))
    emulator.run(2)
    assert (emulator.pending(), value(array)) == (3, 2)
    emulator.run()
    assert (emulator.pending(), value(array)) == (0, 5)
