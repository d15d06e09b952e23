"""Plans: deploying, binding, launching, alone and in graphs."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import kernels
import numpy as np
import pytest

import eagle
from eagle.errors import GraphTypeError
from eagle.graph import opaque
from eagle.plugin import Launch


@pytest.fixture
def x() -> np.ndarray:
    return np.arange(5.0)


# deploying ------------------------------------------------------------------------------------------------------------


@pytest.mark.host_only("refused before anything runs")
def test_what_is_no_kernel_is_a_type_error_that_says_how_to_make_one() -> None:
    with pytest.raises(GraphTypeError, match=r"@hawk\.kernel"):
        eagle.deploy(lambda x: x)
    with pytest.raises(TypeError, match="not 3"):
        eagle.deploy(3)


@pytest.mark.host_only("refused before anything runs")
def test_unknown_keywords_and_scalars_and_targets_are_refused() -> None:
    with pytest.raises(TypeError, match="shiny"):
        eagle.deploy(kernels.scale, shiny=True)  # type: ignore[call-arg]
    with pytest.raises(eagle.GraphError, match="'float64' or 'float32'"):
        eagle.deploy(kernels.scale, scalar="float16")  # type: ignore[arg-type]
    with pytest.raises(eagle.BackendUnavailable, match="'gpus'"):
        eagle.deploy(kernels.scale, targets=["gpus"])
    with pytest.raises(GraphTypeError, match="list of backends"):
        eagle.deploy(kernels.scale, targets="cpu")
    with pytest.raises(eagle.GraphError, match="at least 1"):
        eagle.deploy(kernels.scale, steps=0)


@pytest.mark.host_only("nothing runs")
def test_a_plan_says_what_it_takes() -> None:
    text = str(eagle.deploy(kernels.turn))
    for part in ("turn", "m: float64, shape (4, n), read", "v: float64, shape (2, n), updated"):
        assert part in text
    assert "a table of float64, shape (any), read" in str(eagle.deploy(kernels.look_up))
    assert "a number (float64)" in str(eagle.deploy(kernels.scale))


# running --------------------------------------------------------------------------------------------------------------


def test_run_allocates_outputs_and_returns_them(device: Any, x: np.ndarray) -> None:
    out = eagle.deploy(kernels.scale).run(x=device.put(x), factor=2)
    np.testing.assert_array_equal(device.to_numpy(out), 2 * x)
    both = eagle.deploy(kernels.sum_and_difference).run(a=device.put(x), b=device.put(x[::-1]))
    np.testing.assert_array_equal(device.to_numpy(both.total), [4] * 5)
    np.testing.assert_array_equal(device.to_numpy(both.difference), x - x[::-1])


def test_run_writes_into_outputs_that_are_given(device: Any, x: np.ndarray) -> None:
    out = device.array(np.zeros(5))
    assert eagle.deploy(kernels.scale).run(x=device.put(x), factor=3, out=out) is out
    np.testing.assert_array_equal(device.to_numpy(out), 3 * x)


def test_run_returns_what_is_updated_in_place(device: Any, x: np.ndarray) -> None:
    plane = device.put(x)
    assert eagle.deploy(kernels.bump).run(x=plane) is plane
    np.testing.assert_array_equal(device.to_numpy(plane), x + 1)


def test_an_output_may_be_the_very_same_array_as_an_input(device: Any, x: np.ndarray) -> None:
    plane = device.put(x)
    eagle.deploy(kernels.scale).bind(x=plane, factor=2.0, out=plane).launch(3)
    np.testing.assert_array_equal(device.to_numpy(plane), 8 * x)


@pytest.mark.parametrize("samples", [0, 1, 7, 33, 1000])
def test_every_batch_size_runs(samples: int, device: Any) -> None:
    x = np.linspace(-1, 1, samples)
    out = eagle.deploy(kernels.scale).run(x=device.put(x), factor=0.1)
    np.testing.assert_array_equal(device.to_numpy(out), 0.1 * x)


def test_vectors_and_matrices_are_component_major_rows(device: Any, x: np.ndarray) -> None:
    v = np.stack([x, x + 1, x + 2])
    expected = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5
    length = eagle.deploy(kernels.length)
    np.testing.assert_allclose(device.to_numpy(length.run(v=device.put(v))), expected, rtol=1e-15)
    wide = np.zeros((3, 9))
    wide[:, 2:7] = v
    inside = device.view(device.put(wide), slice(None), slice(2, 7))
    np.testing.assert_allclose(device.to_numpy(length.run(v=inside)), expected, rtol=1e-15)


@pytest.mark.parametrize("shape", [(4, 5), (2, 2, 5)])
def test_a_matrix_comes_as_rows_of_components_or_in_its_shape(shape: Any, device: Any, x: np.ndarray) -> None:
    m = np.zeros((2, 2, 5))
    m[0, 1], m[1, 0] = 1, 2
    u = device.put(np.stack([x, x + 1]))
    eagle.deploy(kernels.turn).bind(m=device.put(m.reshape(shape)), v=u).launch()
    np.testing.assert_array_equal(device.to_numpy(u), [x + 1, 2 * x])


def test_float32_plans_compute_in_float32(device: Any) -> None:
    x = np.linspace(0, 1, 9, dtype=np.float32)
    out = device.to_numpy(eagle.deploy(kernels.scale, scalar="float32").run(x=device.put(x), factor=0.1))
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, np.float32(0.1) * x)


def test_nan_and_infinity_flow_through(device: Any) -> None:
    x = device.array([np.nan, np.inf, -np.inf, -0.0])
    out = device.to_numpy(eagle.deploy(kernels.scale).run(x=x, factor=0.0))
    assert np.isnan(out[:3]).all()
    assert np.signbit(out[3])


def test_bools_are_read_as_true_whatever_byte_they_hold(device: Any) -> None:
    flag = device.put(np.array([0, 1, 7, 255], np.uint8).view(bool))
    out = device.to_numpy(eagle.deploy(kernels.negate).run(flag=flag))
    np.testing.assert_array_equal(out.view(np.uint8), [1, 0, 0, 0])


# what bind refuses ----------------------------------------------------------------------------------------------------

F = np.zeros(6)
READ_ONLY = np.zeros(6)
READ_ONLY.flags.writeable = False
RAW = np.zeros(6 * 8 + 1, np.uint8)


@pytest.mark.host_only("passes arrays of NumPy's; refused before anything runs")
@pytest.mark.parametrize(
    ("kernel", "planes", "says"),
    [
        (kernels.scale, {"x": F}, "needs factor, out too"),
        (kernels.scale, {"x": F, "out": F, "factor": 1, "fctor": 1}, "no argument 'fctor'.*Did you mean 'factor'"),
        (kernels.bump, {"x": np.zeros(6, np.int64)}, "plane 'x': kernel 'bump' needs float64, and the array is int64"),
        (kernels.bump, {"x": np.zeros(6, np.float32)}, r"deploy\(kernel, scalar='float32'\)"),
        (kernels.bump, {"x": np.zeros(6, np.float16)}, "float16"),
        (kernels.bump, {"x": np.zeros(6, bool)}, "bool"),
        (kernels.bump, {"x": np.zeros(6, complex)}, "complex128"),
        (kernels.bump, {"x": np.zeros(6, ">f8")}, ">f8"),
        (kernels.bump, {"x": np.zeros(6, "f8,f8")}, "f0"),
        (kernels.bump, {"x": np.ma.masked_array(np.zeros(6))}, "masked array"),
        (kernels.bump, {"x": [1.0, 2.0]}, "plane 'x': kernel 'bump' cannot take it: a list is not an array"),
        (kernels.bump, {"x": np.zeros((2, 3))}, r"an array of shape \(n,\) for n samples is needed"),
        (kernels.bump, {"x": np.array(1.0)}, r"shape \(\)"),
        (kernels.bump, {"x": READ_ONLY}, "writes it, and the array is read-only"),
        (kernels.bump, {"x": RAW[1:].view(np.float64)}, "not aligned to 8 bytes"),
        (kernels.bump, {"x": np.broadcast_to(np.zeros(1), 6)}, "read-only"),
        (kernels.length, {"v": np.zeros((4, 6)), "out": F}, r"shape \(3, n\)"),
        (kernels.sum_and_difference, {"a": F, "b": np.zeros(5), "total": F + 0, "difference": F + 0}, "a 6, b 5"),
        (kernels.affine, {"a": F[:5], "x": F[1:]}, "writes plane 'x', which overlaps plane 'a'"),
        (kernels.affine, {"a": F[::-1], "x": F}, "overlaps"),
        (kernels.sum_and_difference, {"a": F, "b": F, "total": F, "difference": F}, "overlaps"),
        (kernels.look_up, {"i": np.zeros(6, np.int64), "table": F, "out": F}, "overlaps plane 'table'"),
        (kernels.look_up, {"i": np.zeros(6, np.int64), "table": np.zeros((2, 2)), "out": F}, "a table of shape"),
        (kernels.look_up, {"i": np.zeros(6, np.int64), "table": np.zeros(12)[::2], "out": F}, "contiguous"),
        (kernels.scale, {"x": F, "out": F, "factor": np.zeros(1)}, "plane 'factor': .*a param is passed by value"),
        (kernels.scale, {"x": F, "out": F, "factor": "2"}, "a number is needed"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(kernel: Any, planes: dict[str, Any], says: str) -> None:
    with pytest.raises(eagle.PlaneError, match=says):
        eagle.deploy(kernel).bind(**planes)


@pytest.mark.host_only("refused before anything runs")
def test_memory_of_another_device_is_refused() -> None:
    class OnDevice:
        __cuda_array_interface__ = {"shape": (6,), "typestr": "<f8", "data": (1 << 40, False), "version": 3}  # noqa: RUF012

    with pytest.raises(eagle.PlaneError, match="plane 'a' is in cpu memory and plane 'x' in cuda memory"):
        eagle.deploy(kernels.affine).bind(a=F, x=OnDevice())


# copies ---------------------------------------------------------------------------------------------------------------


@pytest.mark.host_only("only arrays of NumPy's are copied")
def test_a_strided_or_sample_major_array_is_copied_with_a_warning_and_back() -> None:
    base = np.arange(10.0)
    with pytest.warns(eagle.CopyWarning, match="'x' of kernel 'bump' is copied"):
        bound = eagle.deploy(kernels.bump).bind(x=base[::2])
    bound.launch(2)
    np.testing.assert_array_equal(base, [2, 1, 4, 3, 6, 5, 8, 7, 10, 9])
    rows = np.arange(10.0).reshape(5, 2)
    m = np.zeros((4, 5))
    m[1] = m[2] = 1
    with pytest.warns(eagle.CopyWarning, match="'v'"):
        eagle.deploy(kernels.turn).bind(m=m, v=rows).launch()
    np.testing.assert_array_equal(rows, np.arange(10.0).reshape(5, 2)[:, ::-1])


@pytest.mark.host_only("only arrays of NumPy's are copied")
def test_a_graph_refuses_a_plane_that_would_be_copied() -> None:
    with pytest.warns(eagle.CopyWarning):
        bound = eagle.deploy(kernels.bump).bind(x=np.zeros(10)[::2])
    with pytest.raises(eagle.PlaneError, match=r"plane 'x'.*would have to be copied.*Pass a contiguous"):
        eagle.Graph().add(bound)


# in graphs ------------------------------------------------------------------------------------------------------------


def test_plan_launches_are_ordered_by_what_their_kernels_touch(device: Any) -> None:
    x, y = device.array(np.arange(5.0)), device.array(np.zeros(5))
    scale, bump = eagle.deploy(kernels.scale), eagle.deploy(kernels.bump)
    g = eagle.Graph()
    g.add(bump.bind(x=x)).add(scale.bind(x=x, factor=2.0, out=y), name="double").add(bump.bind(x=y))
    assert g.node_labels() == ("bump", "double", "bump_2")
    assert [tuple(edge) for edge in g.edges()] == [(0, 1, "x", "RAW"), (1, 2, "out", "RAW"), (1, 2, "out", "WAW")]
    g.build().launch(2)
    np.testing.assert_array_equal(device.to_numpy(y), 2 * (np.arange(5.0) + 2) + 1)


@pytest.mark.host_only("its callables look at arrays of the host")
def test_plans_in_a_group_and_between_callables(x: np.ndarray) -> None:
    y, log, bump = np.zeros(5), [], eagle.deploy(kernels.bump)
    g = eagle.Graph()
    g.add_group([bump.bind(x=x), [bump.bind(x=y), bump.bind(x=y)]], names=["left", "right"])
    g.add_node(opaque(lambda: log.append((x[0], y[0])), reads=[x, y]))
    g.add(bump.bind(x=x))
    g.build().launch()
    assert log == [(1, 2)]
    assert x[0] == 2


def test_siblings_that_share_a_plane_race(device: Any) -> None:
    x, bump = device.array(np.zeros(5)), eagle.deploy(kernels.bump)
    with pytest.raises(eagle.RaceError, match=r"'bump'.*'bump_2'"):
        eagle.Graph().add_group([bump.bind(x=x), bump.bind(x=x)]).build()


def test_a_plan_in_a_conditional_by_its_launch(device: Any) -> None:
    x, flag = device.array(np.zeros(5)), device.array(np.ones(1))
    bound = eagle.deploy(kernels.bump).bind(x=x)
    g = eagle.Graph().add_node(eagle.skippable(bound.launch, eagle.SkipGuard.nonzero(flag))).build()
    g.launch()
    device.write(flag, 0)
    g.launch()
    assert (device.to_numpy(x) == 1).all()


@pytest.mark.host_only("resizes an array of NumPy's")
def test_a_plane_that_moved_is_refused_by_name() -> None:
    x = np.zeros(100)
    g = eagle.Graph().add(eagle.deploy(kernels.bump).bind(x=x), name="n").build().launch()
    x.resize(1 << 20, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'x': the array moved or was resized"):
        g.launch()


def test_masks_and_counters_a_kernel_writes_are_writes(device: Any) -> None:
    left, mask = device.array([3, 1], np.int32), device.array(np.zeros(2), bool)
    g = eagle.Graph().add(eagle.deploy(kernels.count_down).bind(left=left, terminated=mask))
    g.add_node(opaque(lambda: None, reads={"mask": mask}))
    assert [(edge.plane, edge.kind) for edge in g.edges()] == [("terminated", "RAW")]
    g.build().launch()
    assert device.to_numpy(mask).tolist() == [False, True]
    g.launch()
    assert device.to_numpy(left).tolist() == [1, 0]


@pytest.mark.host_only("refused before anything runs")
def test_a_derivative_enters_no_graph(x: np.ndarray) -> None:
    from dataclasses import replace

    launch: Launch = eagle.deploy(kernels.bump).bind(x=x).__eagle_node__().payload
    bound = eagle.Plan(replace(launch.kernel, derivative=True)).bind(x=x)
    with pytest.raises(eagle.GraphError, match="is a derivative"):
        eagle.Graph().add(bound)


# faults ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [5, -1, 2**40])
def test_an_index_outside_a_table_raises_naming_kernel_table_sample_and_index(index: int, device: Any) -> None:
    i = np.arange(100) % 5
    i[77] = i[99] = index
    with pytest.raises(IndexError) as caught:
        eagle.deploy(kernels.look_up).run(i=device.put(i), table=device.array(np.arange(5.0)))
    text = str(caught.value) + "".join(caught.value.__notes__)
    for part in ("look_up", "table", "77", str(index), "kernels.py", "return table[i]"):
        assert part in text


def test_a_table_without_elements_is_taken_and_every_index_is_outside(device: Any) -> None:
    table = device.array(np.zeros((0, 4)))
    with pytest.raises(IndexError, match="index 0 is outside table 'table', for sample 0"):
        eagle.deploy(kernels.look_up_in_two_axes).run(i=device.array([0, 1], np.int64), table=table)


def test_the_other_samples_of_a_fault_are_done(device: Any) -> None:
    a, b, out = (device.array(one, np.int32) for one in (np.arange(8), [1, 1, 0, 1, 0, 1, 1, 1], np.zeros(8)))
    bound = eagle.deploy(kernels.divide).bind(a=a, b=b, out=out)
    with pytest.raises(ZeroDivisionError, match="sample 2"):
        bound.launch()
    assert device.to_numpy(out)[[0, 1, 3, 5, 6, 7]].tolist() == [0, 1, 3, 5, 6, 7]
    device.write(b, 1)
    bound.launch()
    assert device.to_numpy(out).tolist() == list(range(8))


def test_a_bound_plan_dies_with_its_last_reference(device: Any, x: np.ndarray) -> None:
    gc.disable()
    try:
        bound = eagle.deploy(kernels.bump).bind(x=device.put(x)).launch()
        alive = weakref.ref(bound)
        del bound
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.host_only("the device's compiler is NVIDIA's, not a program")
def test_no_program_is_started_to_compile_a_kernel(tmp_path: Path) -> None:
    code = """
import sys
started = []
sys.addaudithook(lambda event, arguments: started.append(event) if event in (
    "subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system") else None)
import eagle, kernels
eagle.deploy(kernels.decay, targets=["cpu"])
print(started)
"""
    here = Path(__file__).parents[1] / "lib"
    environment = os.environ | {"PYTHONPATH": str(here), "EAGLE_CACHE_DIR": str(tmp_path), "PATH": ""}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert ran.stdout == "[]\n", ran.stderr
    assert list(tmp_path.iterdir())  # it was compiled
