"""The device as older drivers: what cuda.core does on them, and what is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

ABSENT = """
import cuda_emulator, sys
cuda_emulator.load(sys.argv[1])
from cuda.bindings import driver as cu
from cuda_calls import code, done, add_conditional, add_node, conditional_params, new_condition, new_graph
done(cu.cuInit(0))
done(cu.cuCtxSetCurrent(done(cu.cuDevicePrimaryCtxRetain(0))))
print(done(cu.cuDriverGetVersion()))
graph = new_graph()
for kind, size in (("IF", 1), ("WHILE", 1), ("IF", 2), ("SWITCH", 2)):
    try:
        print(kind, size, code(add_node(graph, conditional_params(new_condition(graph, 1), kind, size))))
    except Exception as error:
        print(kind, size, type(error).__name__)
"""


def python(*arguments: str) -> str:
    path = {**os.environ, "PYTHONPATH": str(HERE.parent / "lib")}
    path.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("driver", ["12.4", "12.8"])
def test_cuda_cores_graphs_work_as_this_driver(driver: str) -> None:
    options = ["--emulated", "--driver", driver, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    files = [str(HERE / name) for name in ("test_cuda_core.py", "test_conditionals.py")]
    said = python("-m", "pytest", *options, *files)
    assert " passed" in said


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("12.2", ["12020", *["FunctionNotFoundError"] * 4]),
        ("12.4", ["12040", "SUCCESS", "SUCCESS", "INVALID_VALUE", "INVALID_VALUE"]),
        ("12.8", ["12080", *["SUCCESS"] * 4]),
        ("13.0", ["13000", *["SUCCESS"] * 4]),
    ],
)
def test_conditional_nodes_are_there_from_their_version_on(driver: str, expected: list[str]) -> None:
    assert [line.split()[-1] for line in python("-c", ABSENT, driver).splitlines()] == expected


OLD = """
import ctypes, cuda_emulator, sys
cuda_emulator.load(sys.argv[1])
from cuda.bindings import driver as cu
from cuda_calls import code, done, new_stream
from cuda.core import Device, Program
done(cu.cuInit(0))
Device().set_current()
calls = {
    "into a graph": lambda: cu.cuStreamBeginCaptureToGraph(new_stream(), None, None, None, 0, 0),
    "newer signature": lambda: cu.cuStreamGetCaptureInfo(new_stream()),
    "parameters": lambda: cu.cuFuncGetParamInfo(None, 0),
    "asked for": lambda: cu.cuGetProcAddress(b"cuStreamGetCaptureInfo", 12030, 0),
    "its own": lambda: cu.cuGetProcAddress(b"cuStreamGetCaptureInfo", 12000, 0),
    "condition": lambda: cu.cuModuleLoadData(made(True)),
    "no condition": lambda: cu.cuModuleLoadData(made(False)),
}
def made(sets):
    text = "extern \\"C\\" __device__ void cudaGraphSetConditional(unsigned long long, unsigned);"
    text += "extern \\"C\\" __global__ void f(unsigned long long c) { SETS }"
    text = text.replace("SETS", "cudaGraphSetConditional(c, 1);" if sets else "")
    return bytes(Program(text, "c++").compile("cubin").code)
for name, call in calls.items():
    try:
        print(code(call()))
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.mark.parametrize("driver", ["12.0", "12.2"])
def test_what_came_later_is_not_there_and_gives_no_older_function_of_that_name(driver: str) -> None:
    absent = ["FunctionNotFoundError"] * 3
    found = python("-c", OLD, driver).split()
    assert found == [*absent, "INVALID_VALUE", "SUCCESS", "INVALID_IMAGE", "SUCCESS"]


def test_code_that_sets_a_condition_is_linked_where_there_are_nodes() -> None:
    assert python("-c", OLD, "12.4").split()[-2:] == ["SUCCESS", "SUCCESS"]
