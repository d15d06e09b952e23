"""Processes without a usable driver, forked ones, and the end of a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cuda_emulator import Emulator

TESTS = Path(__file__).parents[1]
PREAMBLE = f"""
import gc, os, sys
sys.path[:0] = [{str(TESTS / "lib")!r}]
import eagle
from eagle.graph import opaque
"""
LOAD = """
import cuda_emulator
emulator = cuda_emulator.load({driver!r}, devices={devices})
import numpy as np
from cuda_arrays import DeviceArray
"""
GRAPH = """
x, y = DeviceArray(np.ones(4)), DeviceArray(np.zeros(4))
g = eagle.Graph().add_node(eagle.copy(x, into=y))
"""


def run(code: str, *, driver: str | None = "13.0", devices: int = 1) -> str:
    """Run code in a process of its own, which has to end well and silently; return what it printed."""
    load = LOAD.format(driver=driver, devices=devices) if driver else ""
    ran = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", PREAMBLE + load + code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout


@pytest.fixture(autouse=True)
def emulated(emulator: Emulator) -> None:
    if getattr(emulator, "real", False):
        pytest.skip("loads emulated devices of its own")


DOCTOR = "from eagle.cli import main; main(['doctor'])"


def test_doctor_says_in_one_sentence_that_there_is_no_driver() -> None:
    text = run(DOCTOR, driver=None)
    assert "gpu, for cuda memory, cannot run here: there is no NVIDIA driver here" in text


def test_a_build_without_a_driver_says_so_and_what_to_do() -> None:
    code = """
try:
    eagle.Graph().add_node(opaque(print)).build("gpu")
except eagle.BackendUnavailable as error:
    print(error)
eagle.GraphPipeline().add(lambda: print("on the host")).build().launch()
"""
    text = run(code, driver=None)
    assert "backend 'gpu' cannot run here" in text
    assert "there is no NVIDIA driver here" in text
    assert "on the host" in text


def test_a_child_of_a_process_without_a_driver_is_told_of_the_driver_and_not_of_the_fork() -> None:
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
from eagle.plugin.lookup import backend_named, why_not
print(why_not(backend_named("gpu")), flush=True)
if os.fork() == 0:
    print(why_not(backend_named("gpu")), flush=True)
    os._exit(0)
os.wait()
"""
    lines = run(code, driver=None).splitlines()
    assert len(lines) == 2
    assert all("there is no NVIDIA driver here" in line for line in lines)


def test_doctor_names_the_device_and_the_driver() -> None:
    (line,) = (line for line in run(DOCTOR).splitlines() if line.lstrip().startswith("gpu, "))
    assert "can run here: " in line
    assert "13.0" in line


@pytest.mark.parametrize(
    ("driver", "devices", "says"),
    [
        ("11.8", 1, "the NVIDIA driver is for CUDA 11.8 and eagle needs 12.0; update the driver"),
        ("13.0", 0, "the NVIDIA driver finds no CUDA device; check nvidia-smi and CUDA_VISIBLE_DEVICES"),
    ],
)
def test_a_driver_that_cannot_be_used_is_explained(driver: str, devices: int, says: str) -> None:
    code = """
main(['doctor'])
try:
    eagle.Graph().add_node(opaque(print)).build("gpu")
except eagle.BackendUnavailable as error:
    print(error)
"""
    text = run("from eagle.cli import main" + code, driver=driver, devices=devices)
    assert f"gpu, for cuda memory, cannot run here: {says}" in text
    assert text.count(says) == 2


@pytest.mark.parametrize("driver", ["12.0", "12.2", "12.4", "12.8", "13.0"])
def test_captures_loops_and_children_run_on_every_driver_that_is_taken(driver: str) -> None:
    code = """
import cuda_frame
from cuda_devices import CudaDevice
from cuda.core.graph import GraphDefinition
from eagle.graph import child
from eagle.testing import registered
z, on = DeviceArray(np.zeros(4)), DeviceArray(np.ones(1, np.int32))
made = GraphDefinition()
made.memcpy(z.address, y.address, 32)
with registered(cuda_frame):
    double = opaque(CudaDevice().scale(y, 2.0, y), reads={"y": y}, writes={"y": y})
    loop = eagle.repeat_while(eagle.skippable(double, eagle.SkipGuard.nonzero(on)), eagle.SkipGuard.nonzero(on), 3)
    g.add_node(loop).add_node(child(made, reads={"y": y}, writes={"z": z}))
    g.build().launch()
    print(z.to_numpy()[0], loop.iterations, emulator.driver)
"""
    assert run(GRAPH + code, driver=driver) == f"8.0 3 {driver}\n"


def test_a_forked_child_is_told_so_and_the_parent_goes_on() -> None:
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
g.build().launch()
child = os.fork()
if child == 0:
    for call in (g.launch, g.enqueue, g.synchronize, eagle.Graph().add_node(eagle.copy(x, into=y)).build):
        try:
            call()
        except eagle.EagleError as error:
            print(type(error).__name__, error, flush=True)
    a = np.zeros(2)
    eagle.Graph().add_node(opaque(lambda: a.fill(1), writes={"a": a})).build().launch()
    print("host", a[0], flush=True)
    del g
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
x.fill_from(5.0)
g.launch()
print("parent", y.to_numpy()[0])
"""
    lines = run(GRAPH + code).splitlines()
    assert len(lines) == 6
    assert all(line.startswith("BackendUnavailable") and "fork" in line for line in lines[:4])
    assert lines[4:] == ["host 1.0", "parent 5.0"]


def test_a_fork_in_the_middle_of_a_capture_frees_the_child() -> None:
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
def forks():
    if os.fork() == 0:
        assert gc.isenabled()
        a = np.zeros(2)
        eagle.Graph().add_node(opaque(lambda: a.fill(1), writes={"a": a})).build().launch()
        try:
            g.build()
        except (eagle.BackendUnavailable, eagle.GraphError) as error:
            print("child", type(error).__name__, flush=True)
        os._exit(0)
    os.wait()
h = eagle.Graph().add_node(opaque(forks, reads={"x": x})).build().launch()
g.build().launch()
print("parent", y.to_numpy()[0])
"""
    assert run(GRAPH + code).splitlines() == ["child BackendUnavailable", "parent 1.0"]


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "del x, y", "h = [g]; h.append(h)", "os._exit(0)"])
def test_a_process_ends_well_with_work_in_flight(end: str) -> None:
    assert run(GRAPH + "g.build(); g.enqueue(3)\n" + end) == ""


def test_a_process_ends_well_while_a_thread_waits_for_the_device() -> None:
    code = """
import threading
g.build()
threading.Thread(target=lambda: g.launch(100), daemon=True).start()
"""
    assert run(GRAPH + code) == ""


def test_a_lost_context_is_named_with_the_graph_that_lost_it_and_nothing_hangs() -> None:
    code = """
from cuda_devices import CudaDevice
device = CudaDevice()
bad = DeviceArray(np.ones(4))
work = device.fill(bad, 1.0)
address = bad.address
class Gone:
    __cuda_array_interface__ = {"shape": (4,), "typestr": "<f8", "data": (address, False), "version": 3}
import cuda_frame
from eagle.testing import registered
with registered(cuda_frame):
    g.build().launch()
    broken = eagle.Graph().add_node(opaque(work, writes={"x": x}), name="broken").build()
    from cuda_own import call
    call("cuMemFree", address)
    bad._memory.address = 0
    for _ in range(2):
        for one in (broken, g):
            try:
                one.launch()
            except eagle.EagleError as error:
                print(error, *error.__notes__, flush=True)
    try:
        eagle.Graph().add_node(eagle.copy(x, into=y)).build()
    except eagle.EagleError as error:
        print(error, flush=True)
"""
    ran = subprocess.run(
        [sys.executable, "-c", PREAMBLE + LOAD.format(driver="13.0", devices=1) + GRAPH + code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == 5
    assert "the CUDA context of this process is lost" in lines[0]
    assert "in the graph of 'broken'" in lines[0]
    assert all("lost" in line for line in lines)
