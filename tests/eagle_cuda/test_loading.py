"""When the code of a compiled kernel is loaded, and what the driver or its description stands against."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gravity import MU, agrees, planes

import eagle
from eagle import GraphPipeline
from eagle.loaded import LoadedVector
from eagle_cuda import artifacts, driver


def redescribed(file: Path, **keys: object) -> Path:
    beside = file.with_suffix(".json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), **keys}))
    return file


@contextmanager
def captured_by_caller(stream: int) -> Iterator[list[Any]]:
    """Capture what is queued on a stream; the graph is in the list afterwards. Nothing is collected meanwhile."""
    from cuda_own import call

    graphs: list[Any] = []
    gc.collect()
    gc.disable()  # what a test before this one left behind may be memory of the device, whose release ends a capture
    try:
        call("cuStreamBeginCapture", stream, driver.api().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
        yield graphs
        graphs.append(call("cuStreamEndCapture", stream))
    finally:
        gc.enable()


def test_it_is_loaded_when_it_is_made(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "_functions", {})
    LoadedVector(copied)
    assert [artifact.entry for _, artifact, _ in artifacts._functions] == ["gravity"]


def test_one_that_is_loaded_first_while_a_step_is_recorded_is_refused(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    force, given = LoadedVector(copied), planes()
    monkeypatch.setattr(artifacts, "_functions", {})  # as on a device that was not current when it was made
    pipe = GraphPipeline().add(lambda: force.launch(mu=MU, **given), name="pull")
    with pytest.raises(eagle.BuildError, match=r"'pull': .*gravity\.ptx is not loaded on device 0.*Load it"):
        pipe.build("gpu")
    force.launch(mu=MU, **given)  # which loads it
    pipe.build("gpu").launch()
    assert agrees(given, 2)


def test_one_that_is_made_first_while_a_step_is_recorded_is_refused(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "_functions", {})
    given = planes()
    pipe = GraphPipeline().add(lambda: LoadedVector(copied).launch(mu=MU, **given), name="pull")
    with pytest.raises(eagle.BuildError, match=r"'pull': .*gravity\.ptx is not loaded on device 0.*Load it"):
        pipe.build("gpu")


def test_one_that_is_loaded_first_while_the_caller_captures_is_refused(
    copied: Path, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda_own import call

    force, given = LoadedVector(copied), planes()
    monkeypatch.setattr(artifacts, "_functions", {})
    with cupy.cuda.Stream(non_blocking=True) as stream:
        refused = pytest.raises(eagle.BuildError, match="no capture survives the loading of code")
        with captured_by_caller(stream.ptr) as graphs, refused:
            force.launch(mu=MU, **given)
        call("cuGraphDestroy", graphs.pop())


def test_a_capture_of_the_callers_own_records_it(copied: Path, cupy: Any) -> None:
    """What another library has queued on its own current stream is no part of it."""
    from cuda_own import call

    force, given = LoadedVector(copied), planes()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        with captured_by_caller(stream.ptr) as graphs:
            force.launch(mu=MU, **given)
        executable = call("cuGraphInstantiate", graphs[0], 0)
        for _ in range(3):
            call("cuGraphLaunch", executable, stream.ptr)
        stream.synchronize()
        call("cuGraphExecDestroy", executable)
        call("cuGraphDestroy", graphs.pop())
    assert agrees(given, 3)


def test_threads_load_and_launch_it_at_once(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "_functions", {})
    everybody = [planes() for _ in range(4)]
    raised: list[BaseException] = []

    def work(given: dict[str, Any]) -> None:
        try:
            LoadedVector(copied).launch(mu=MU, **given)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(given,)) for given in everybody]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised
    assert all(agrees(given, 1) for given in everybody)


def test_an_entry_that_is_not_in_the_image_is_named(copied: Path) -> None:
    with pytest.raises(eagle.BuildError, match=r"'gravity' of .*gravity\.ptx: there is no kernel 'pull' in it"):
        LoadedVector(redescribed(copied, entry="pull"))


def test_arguments_the_entry_has_not_are_refused(copied: Path) -> None:
    rows = json.loads(copied.with_suffix(".json").read_text())["arguments"]
    with pytest.raises(eagle.BuildError, match=r"'gravity' of .* takes parameters of \[8, 8, 8, 8, 8, 8, 8\] b"):
        LoadedVector(redescribed(copied, arguments=rows[:3]))


@pytest.mark.parametrize(
    ("compiled_for", "reason"),
    [
        ("sm_80", "it is machine code for sm_80, and the device is sm_90"),
        ("compute_100", "it is PTX for compute_100, and the device is sm_90"),
        ("compute_89a", "it is for compute_89a alone, and the device is sm_90"),
    ],
)
@pytest.mark.emulator_only
def test_code_for_another_architecture_is_refused(copied: Path, compiled_for: str, reason: str) -> None:
    with pytest.raises(eagle.BuildError, match=rf"does not run on device 0: {reason}\. Compile it for sm_90"):
        LoadedVector(redescribed(copied, compiled_for=compiled_for))


@pytest.mark.emulator_only
def test_ptx_that_is_newer_than_the_driver_says_which_compiler_made_it(copied: Path) -> None:
    copied.write_bytes(b".version 99.0\n.target sm_75\n")
    told = redescribed(copied, sha256="", compiler="NVRTC 20.0")
    with pytest.raises(eagle.BuildError, match=r"its PTX, made by NVRTC 20\.0, is newer than the driver,.* CUDA 1"):
        LoadedVector(told)


def test_an_image_that_is_none_is_refused(copied: Path) -> None:
    copied.write_bytes(b"no image at all")
    with pytest.raises(eagle.BuildError, match=r"the driver does not take the compiled kernel 'gravity' of .*\.ptx"):
        LoadedVector(redescribed(copied, sha256=""))


def test_more_threads_than_it_was_compiled_for_are_refused(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "_functions", {})

    def call(function: str, *arguments: Any) -> Any:
        return 64 if function == "cuFuncGetAttribute" else driver.call(function, *arguments)

    monkeypatch.setattr(artifacts, "call", call)
    with pytest.raises(eagle.BuildError, match=r"128 threads in a block: as it was compiled, device 0 runs 64"):
        LoadedVector(copied)
