"""``eagle.loaded.LoadedVector``: a compiled kernel from its files, launched by name, captured or not, and as a plan."""

from __future__ import annotations

import gc
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray

import eagle
from eagle import GraphPipeline
from eagle.loaded import LoadedVector
from eagle_cuda import artifacts, driver, save_artifact

MU = 3.986004418e5
N = 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that has gravity.ptx, which the device of this run takes."""
    import cuda_emulator
    from gravity import files_for

    return files_for(cuda_emulator.loaded(), tmp_path_factory.mktemp("files"))


@pytest.fixture
def force(device: Any, folder: Path) -> LoadedVector:
    return LoadedVector(folder / "gravity.ptx")


@pytest.fixture
def copied(unordered: Any, folder: Path, tmp_path: Path) -> Path:
    """A copy of both files, to change."""
    for name in ("gravity.ptx", "gravity.json"):
        shutil.copy(folder / name, tmp_path)
    return tmp_path / "gravity.ptx"


def redescribed(file: Path, **keys: object) -> Path:
    beside = file.with_suffix(".json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), **keys}))
    return file


def planes(count: int = N) -> dict[str, Any]:
    position = np.random.default_rng(2).uniform(7.0e3, 4.2e4, size=(3, count))
    done = np.arange(count) % 10 == 3
    return {
        "out": DeviceArray(np.zeros((3, count))),
        "position": DeviceArray(position),
        "terminated": DeviceArray(done),
    }


def agrees(given: dict[str, Any], times: int) -> bool:
    position = given["position"].to_numpy()
    once = -MU * position / np.linalg.norm(position, axis=0) ** 3
    wanted = np.where(given["terminated"].to_numpy(), 0.0, times * once)
    return bool(np.allclose(given["out"].to_numpy(), wanted, rtol=1e-13, atol=0.0))


# launches -------------------------------------------------------------------------------------------------------------


def test_a_launch_is_queued_on_the_current_stream_and_adds_to_what_is_there(force: LoadedVector, cupy: Any) -> None:
    given = planes()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        assert force.launch(mu=MU, **given) is None
        force.launch(mu=MU, **given)
    stream.synchronize()
    assert agrees(given, 2)


def test_a_launch_by_itself_waits_for_what_the_library_queued_and_is_waited_for(force: LoadedVector, cupy: Any) -> None:
    given = planes(10)
    given["out"].fill_from(1e300)
    twice, row = cupy.zeros(10), given["out"][1]
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for part in range(3):
            cupy.multiply(given["out"][part], 0.0, out=given["out"][part])
        force.launch(mu=MU, **given)
        cupy.multiply(row, 2.0, out=twice)
    stream.synchronize()
    assert agrees(given, 1)
    np.testing.assert_array_equal(twice.get(), 2 * row.to_numpy())


def test_streams_that_differ_are_all_in_order_with_a_launch(force: LoadedVector, cupy: Any, emulator: Any) -> None:
    """The stand-in of the tests' frame is a second library, with a current stream of its own."""
    import cuda_frame
    from cuda_own import own_stream

    given = planes(10)
    given["out"].fill_from(1e300)
    twice, row = cupy.zeros(10), given["out"][1]
    with own_stream() as other, cuda_frame.use(other), cupy.cuda.Stream(non_blocking=True) as stream:
        for part in range(3):
            cupy.multiply(given["out"][part], 0.0, out=given["out"][part])
        force.launch(mu=MU, **given)
        cupy.multiply(row, 2.0, out=twice)
        stream.synchronize()
        emulator.run()
    assert agrees(given, 1)
    np.testing.assert_array_equal(twice.get(), 2 * row.to_numpy())


def test_a_step_of_a_pipeline_records_exactly_one_launch(force: LoadedVector, emulator: Any) -> None:
    given = planes()
    pipe = GraphPipeline().add(lambda: force.launch(mu=MU, **given), name="pull").build("gpu")
    assert (given["out"].to_numpy() == 0).all()
    pipe.launch(n=5)
    assert agrees(given, 5)


def test_a_step_of_a_loop_in_an_opaque_node_records_it_too(force: LoadedVector) -> None:
    from eagle.graph import opaque

    given = planes()
    on = DeviceArray(np.ones(1, np.int32))
    reads = {name: given[name] for name in ("position", "terminated")}
    node = opaque(lambda: force.launch(mu=MU, **given), reads=reads, writes={"out": given["out"]})
    eagle.Graph().add_node(eagle.repeat_while((node,), eagle.SkipGuard.nonzero(on), 3)).build().launch()
    assert agrees(given, 3)


def test_no_samples_are_no_launch(force: LoadedVector) -> None:
    force.launch(mu=MU, **planes(0))


def test_another_device_than_the_current_one_is_where_the_arrays_are(force: LoadedVector, emulator: Any) -> None:
    if emulator.devices < 2:
        pytest.skip("there is one device")
    from cuda_own import use_device

    use_device(1)
    try:
        given = planes()
        use_device(0)
        force.launch(mu=MU, **given)
        force.launch(mu=MU, **given)
        use_device(1)
        assert agrees(given, 2)
    finally:
        use_device(0)


# a plan ---------------------------------------------------------------------------------------------------------------


def test_a_bound_one_is_a_node_of_a_graph(force: LoadedVector) -> None:
    given = planes()
    g = eagle.Graph().add(force.bind(mu=MU, **given), name="pull").build()
    assert (g.backend, g.node_labels()) == ("gpu", ("pull",))
    g.launch(4)
    assert agrees(given, 4)


def test_deploy_takes_it_and_its_bound_plan_is_bound_anew(force: LoadedVector) -> None:
    first, second = planes(), planes()
    bound = eagle.deploy(force).bind(mu=MU, **first)
    g = eagle.Graph().add(bound).build()
    g.launch(2)
    bound.rebind(**second)
    g.launch(3)
    assert agrees(first, 2)
    assert agrees(second, 3)
    with pytest.raises(eagle.GraphError, match="is made for float64"):
        eagle.deploy(force, scalar="float32")


def test_the_signature_says_what_it_adds_to(force: LoadedVector, folder: Path) -> None:
    assert force.signature.splitlines() == [
        "out: float64, shape (3, n), added to",
        "position: float64, shape (3, n), read",
        "mu: a number (float64)",
        "terminated: the mask of samples that are done, bool, shape (n,), read",
    ]
    assert repr(force) == f"<eagle.LoadedVector of kernel 'gravity' from {folder / 'gravity.ptx'}>"
    assert str(force).startswith("plan of kernel gravity")


def test_a_loop_ends_with_the_mask_the_kernel_writes(device: Any, tmp_path: Path) -> None:
    import kernel_texts

    save_artifact(kernel_texts.decays, tmp_path / "decays.cubin")
    decays = LoadedVector(tmp_path / "decays.cubin")
    x, rate = np.linspace(2.0, 50.0, 40), np.full(40, 0.5)
    here: dict[str, Any] = {"x": DeviceArray(x), "rate": DeviceArray(rate)}
    report = eagle.until_done(decays, **here).run()
    wanted = eagle.until_done(eagle.deploy(kernel_texts.decays), x=x, rate=rate).run()
    assert (report.done, report.steps) == (True, wanted.steps)
    np.testing.assert_array_equal(here["x"].to_numpy(), x)
    with pytest.raises(eagle.BuildError, match=r"'decays' are not counted per sample.*Leave out steps_per_sample="):
        eagle.until_done(decays, steps_per_sample=True, **here).run()


def test_a_loop_whose_mask_nobody_writes_needs_a_limit(force: LoadedVector) -> None:
    given = planes()
    with pytest.raises(eagle.BuildError, match=r"no sample of the compiled kernel 'gravity' would ever end"):
        eagle.until_done(force, mu=MU, **given).run()
    assert eagle.until_done(force, mu=MU, max_steps=3, **given).run().steps == 3
    assert agrees(given, 3)


# refusals -------------------------------------------------------------------------------------------------------------


def test_arguments_by_position_are_refused(force: LoadedVector) -> None:
    with pytest.raises(eagle.GraphError, match=r"'gravity'.*2 came by position\. Say out=, position=, mu=, terminat"):
        force.launch(1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda given: given.pop("out"), "kernel 'gravity' needs out too"),
        (lambda given: given.update(outt=1), "has no argument 'outt'. Did you mean 'out'"),
        (lambda given: given.update(mu="x"), "plane 'mu': .* a number is needed"),
        (lambda given: given.update(out=np.zeros((3, N))), "plane 'out' is in cpu memory and plane 'position' in cuda"),
        (lambda given: given.update(position=given["out"][:, ::2]), "plane 'position': .*not contiguous"),
        (lambda given: given.update(out=DeviceArray(np.zeros((3, N), np.float32))), "needs float64, and the array is"),
        (lambda given: given.update(out=DeviceArray(np.zeros((2, N)))), r"shape \(3, n\)"),
        (lambda given: given.update(out=DeviceArray(np.zeros((3, N - 1)))), "different numbers of samples: out 99"),
        (lambda given: given.update(terminated=DeviceArray(np.zeros(N))), "needs bool, and the array is float64"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(unordered: Any, folder: Path, change: Any, message: str) -> None:
    given = {"mu": MU, **planes()}
    change(given)
    with pytest.raises(eagle.PlaneError, match=message):
        LoadedVector(folder / "gravity.ptx").launch(**given)


def test_planes_that_overlap_are_refused(unordered: Any, folder: Path) -> None:
    both = DeviceArray(np.zeros((3, N + 1)))
    given = {**planes(), "out": both[:, :N], "position": both[:, 1:]}
    with pytest.raises(eagle.PlaneError, match="writes plane 'out', which overlaps plane 'position'"):
        LoadedVector(folder / "gravity.ptx").launch(mu=MU, **given)


def test_a_written_plane_that_is_read_only_is_refused(unordered: Any, folder: Path) -> None:
    given = planes()
    given["out"].read_only = True
    with pytest.raises(eagle.PlaneError, match=r"plane 'out': kernel 'gravity' writes it, and .* read-only"):
        LoadedVector(folder / "gravity.ptx").launch(mu=MU, **given)


def test_arrays_of_the_host_are_refused(unordered: Any, folder: Path) -> None:
    host = {name: array.to_numpy() for name, array in planes().items()}
    with pytest.raises(eagle.PlaneError, match=r"runs on a CUDA device, and its planes 'out', .* are in cpu memory"):
        LoadedVector(folder / "gravity.ptx").launch(mu=MU, **host)


def test_memory_the_driver_does_not_know_is_refused(unordered: Any, folder: Path) -> None:
    given = planes()
    given["out"]._address = np.zeros((3, N)).ctypes.data
    with pytest.raises(eagle.PlaneError, match="plane 'out': the array says it is device memory, and the driver does"):
        LoadedVector(folder / "gravity.ptx").launch(mu=MU, **given)


def test_planes_on_several_devices_are_refused(unordered: Any, folder: Path) -> None:
    if unordered.devices < 2:
        pytest.skip("there is one device")
    from cuda_own import use_device

    given = planes()
    use_device(1)
    try:
        given["position"] = planes()["position"]
    finally:
        use_device(0)
    with pytest.raises(eagle.PlaneError, match=r"'gravity' are on several devices: 'out' on device 0, 'position' on d"):
        LoadedVector(folder / "gravity.ptx").launch(mu=MU, **given)


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


# loading --------------------------------------------------------------------------------------------------------------


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


def test_a_capture_of_the_callers_own_records_it(force: LoadedVector, cupy: Any) -> None:
    """What another library has queued on its own current stream is no part of it."""
    from cuda_own import call

    given = planes()
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
