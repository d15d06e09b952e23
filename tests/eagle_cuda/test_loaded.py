"""``eagle.loaded.LoadedVector``: a compiled kernel from its files, launched by name, captured or not, and as a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from gravity import MU, agrees, planes

import eagle
from eagle import GraphPipeline
from eagle.loaded import LoadedVector
from eagle_cuda import save_artifact

N = 100


@pytest.fixture
def force(device: Any, gravity_files: Path) -> LoadedVector:
    return LoadedVector(gravity_files / "gravity.ptx")


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


def test_the_signature_says_what_it_adds_to(force: LoadedVector, gravity_files: Path) -> None:
    assert force.signature.splitlines() == [
        "out: float64, shape (3, n), added to",
        "position: float64, shape (3, n), read",
        "mu: a number (float64)",
        "terminated: the mask of samples that are done, bool, shape (n,), read",
    ]
    assert repr(force) == f"<eagle.LoadedVector of kernel 'gravity' from {gravity_files / 'gravity.ptx'}>"
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
def test_what_does_not_fit_is_refused_by_name(unordered: Any, gravity_files: Path, change: Any, message: str) -> None:
    given = {"mu": MU, **planes()}
    change(given)
    with pytest.raises(eagle.PlaneError, match=message):
        LoadedVector(gravity_files / "gravity.ptx").launch(**given)


def test_planes_that_overlap_are_refused(unordered: Any, gravity_files: Path) -> None:
    both = DeviceArray(np.zeros((3, N + 1)))
    given = {**planes(), "out": both[:, :N], "position": both[:, 1:]}
    with pytest.raises(eagle.PlaneError, match="writes plane 'out', which overlaps plane 'position'"):
        LoadedVector(gravity_files / "gravity.ptx").launch(mu=MU, **given)


def test_a_written_plane_that_is_read_only_is_refused(unordered: Any, gravity_files: Path) -> None:
    given = planes()
    given["out"].read_only = True
    with pytest.raises(eagle.PlaneError, match=r"plane 'out': kernel 'gravity' writes it, and .* read-only"):
        LoadedVector(gravity_files / "gravity.ptx").launch(mu=MU, **given)


def test_arrays_of_the_host_are_refused(unordered: Any, gravity_files: Path) -> None:
    host = {name: array.to_numpy() for name, array in planes().items()}
    with pytest.raises(eagle.PlaneError, match=r"runs on a CUDA device, and its planes 'out', .* are in cpu memory"):
        LoadedVector(gravity_files / "gravity.ptx").launch(mu=MU, **host)


def test_memory_the_driver_does_not_know_is_refused(unordered: Any, gravity_files: Path) -> None:
    given = planes()
    given["out"]._address = np.zeros((3, N)).ctypes.data
    with pytest.raises(eagle.PlaneError, match="plane 'out': the array says it is device memory, and the driver does"):
        LoadedVector(gravity_files / "gravity.ptx").launch(mu=MU, **given)


def test_planes_on_several_devices_are_refused(unordered: Any, gravity_files: Path) -> None:
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
        LoadedVector(gravity_files / "gravity.ptx").launch(mu=MU, **given)
