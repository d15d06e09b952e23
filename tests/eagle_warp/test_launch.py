"""Warp kernels as nodes on the CPU: what they touch, what they run over, what is refused."""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any

import numpy as np
import pytest
import warp as wp
import warp_kernels as kernels

import eagle
import hawk
from eagle.errors import GraphTypeError
from eagle.frameworks.warp import launch
from eagle.plugin import PlaneError, PlaneTypeError
from hawk import Mutable, Scalar


@hawk.kernel
def halve(x: Mutable[Scalar]):
    x *= 0.5


def floats(*values: float) -> Any:
    return wp.array(values, dtype=float, device="cpu")


def modes(node: eagle.graph.Node[Any]) -> dict[str, str]:
    return {plane.name: plane.mode for plane in node.payload.planes}


def test_a_warp_and_a_hawk_kernel_work_on_one_array_in_turn() -> None:
    x, y = floats(1, 2, 3), floats(0, 0, 0)
    g = eagle.Graph()
    g.add_node(launch(kernels.saxpy, 3, [2.0, x], [y]))
    g.add(eagle.deploy(halve, scalar="float32").bind(x=y), name="halve")
    g.build().launch(2)
    assert (0, 1, "RAW") in {(edge.src, edge.dst, edge.kind) for edge in g.edges()}
    assert y.numpy().tolist() == [1.5, 3.0, 4.5]
    assert g.node_labels() == ("saxpy", "halve")
    assert g.backend == "cpu"


def test_planes_are_numpys_arrays_in_place_too() -> None:
    x, y = np.arange(4.0), np.zeros(4)
    g = eagle.Graph().add_node(launch(kernels.double, 4, [x], [y])).build()
    g.launch()
    x += 1  # seen by the next launch
    g.launch()
    assert y.tolist() == [2.0, 4.0, 6.0, 8.0]


def test_strided_planes_are_launched_over_as_they_lie() -> None:
    table = np.arange(12.0).reshape(4, 3)
    x, y = table[:, 0], table[::-1, 2]
    eagle.Graph().add_node(launch(kernels.double, 4, [x], [y])).build().launch()
    assert table[:, 2].tolist() == [18.0, 12.0, 6.0, 0.0]
    assert table[:, 1].tolist() == [1.0, 4.0, 7.0, 10.0]


def test_vectors_are_rows_of_a_numpy_array() -> None:
    points = np.zeros((3, 3), np.float32)
    eagle.Graph().add_node(launch(kernels.push, 3, [], [points, wp.vec3(1.0, 2.0, 3.0)])).build().launch()
    assert points.tolist() == [[1.0, 2.0, 3.0]] * 3


def test_several_axes_of_threads() -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((3, 2), np.float32)
    eagle.Graph().add_node(launch(kernels.transposed, (2, 3), [x], [y])).build().launch()
    assert (y == x.T).all()


@pytest.mark.parametrize("dtype", [wp.float64, wp.int32, wp.vec3])
def test_a_generic_kernel_takes_any_elements(dtype: Any) -> None:
    x, y = wp.full(4, dtype(3), dtype=dtype, device="cpu"), wp.zeros(4, dtype=dtype, device="cpu")
    node = launch(kernels.copy_any, 4, [x], [y])
    assert modes(node) == {"x": "r", "y": "w"}
    eagle.Graph().add_node(node).build().launch()
    assert (y.numpy() == x.numpy()).all()
    assert y.numpy().any()


def test_a_generic_kernel_takes_numpys_arrays_of_any_dtype() -> None:
    x, y = np.arange(4, dtype=np.int16), np.zeros(4, np.int16)
    eagle.Graph().add_node(launch(kernels.copy_any, 4, [x], [y])).build().launch()
    assert y.tolist() == [0, 1, 2, 3]


def test_a_generic_kernel_over_an_array_that_does_not_say_what_its_elements_are_is_refused() -> None:
    x, y = np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)
    with pytest.raises(PlaneError, match="plane 'x': the kernel takes elements of any kind along 1 axes"):
        eagle.Graph().add_node(launch(kernels.copy_any, 4, [x], [y])).build()


def test_no_threads_touch_nothing() -> None:
    x, y = np.ones(4), np.zeros(4)
    eagle.Graph().add_node(launch(kernels.double, 0, [x], [y])).build().launch()
    assert not y.any()


@pytest.mark.parametrize(
    ("kernel", "inputs", "outputs", "wanted"),
    [
        (kernels.saxpy, 2, 1, {"x": "r", "y": "rw"}),
        (kernels.saxpy, 3, 0, {"x": "r", "y": "rw"}),
        (kernels.adds_up, 2, 0, {"x": "r", "total": "rw"}),
        (kernels.reads_only, 1, 1, {"x": "r", "y": "w"}),
        (kernels.reads_only, 2, 0, {"x": "r", "y": "rw"}),
        (kernels.by_another_name, 1, 0, {"x": "rw"}),
    ],
)
def test_inputs_are_read_outputs_written_and_both_where_the_code_says_so(
    kernel: Any, inputs: int, outputs: int, wanted: dict[str, str]
) -> None:
    arguments = [2.0 if one.type is wp.float32 else floats(1, 2) for one in kernel.adj.args]
    assert modes(launch(kernel, 2, arguments[:inputs], arguments[inputs:])) == wanted


def test_branches_that_only_read_one_array_do_not_race_and_those_that_write_it_do() -> None:
    x, a, b = np.ones(4), np.zeros(4), np.zeros(4)
    g = eagle.Graph().add_group([launch(kernels.double, 4, [x], [a]), launch(kernels.double, 4, [x], [b])])
    g.build().launch()
    assert (a == 2).all()
    assert (b == 2).all()
    y = floats(1, 1)
    hidden = [launch(kernels.in_place, 2, [y]), launch(kernels.in_place, 2, [y])]
    with pytest.raises(eagle.RaceError, match="'x'"):
        eagle.Graph().add_group(hidden).build()


def test_arrays_in_a_structure_are_planes_that_may_be_written() -> None:
    pair = kernels.Pair()
    pair.first, pair.weight = floats(1, 2), 3.0
    out = floats(0, 0)
    node = launch(kernels.weighted, 2, [pair], [out])
    assert modes(node) == {"pair.first": "rw", "out": "w"}
    eagle.Graph().add_node(node).build().launch()
    assert out.numpy().tolist() == [3.0, 6.0]
    assert pair.first.numpy().tolist() == [0.0, 0.0]


def test_a_kernel_that_takes_a_handle_keeps_its_place() -> None:
    out, x = floats(0, 0), np.ones(2)
    g = eagle.Graph()
    g.add_node(launch(kernels.from_mesh, 2, [0], [out]))
    g.add_node(launch(kernels.double, 2, [x], [np.zeros(2)]))
    assert [stage.branches[0][0].complete_access for stage in g._stages] == [False, True]


def test_an_array_may_be_none() -> None:
    node = launch(kernels.reads_only, 0, [None], [floats(1)])
    assert modes(node) == {"y": "w"}


def test_the_launch_is_recorded_and_the_numbers_are_those_of_the_build() -> None:
    x, y = floats(1), floats(0)
    scale = [2.0]
    node = launch(kernels.saxpy, 1, [scale[0], x], [y])
    g = eagle.Graph().add_node(node).build()
    scale[0] = 100.0
    g.launch()
    assert y.numpy()[0] == 2.0


def test_no_tape_of_warps_sees_a_node() -> None:
    x, y = floats(1), floats(0)
    with wp.Tape() as tape:
        eagle.Graph().add_node(launch(kernels.saxpy, 1, [2.0, x], [y])).build().launch()
    assert not tape.launches


def test_arrays_live_as_long_as_the_graph() -> None:
    y = np.zeros(1000)

    def graph() -> eagle.Graph:
        return eagle.Graph().add_node(launch(kernels.double, 1000, [np.ones(1000)], [y])).build()

    g = graph()
    overwriting = [np.full(1000, 7.0) for _ in range(10)]
    g.launch()
    assert (y == 2.0).all(), overwriting


def _launched_in_child(graph: eagle.Graph, x: Any, y: Any, answer: Any) -> None:
    x.fill(21.0)
    graph.launch()
    answer.put(float(y[0]))


@pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")  # JAX may be there too
def test_a_forked_child_launches_on_the_cpu() -> None:
    x, y = np.ones(4), np.zeros(4)
    g = eagle.Graph().add_node(launch(kernels.double, 4, [x], [y])).build().launch()
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    worker = context.Process(target=_launched_in_child, args=(g, x, y, answer))
    worker.start()
    worker.join(60)
    assert (worker.exitcode, answer.get()) == (0, 42.0)
    assert y[0] == 2.0


# refused --------------------------------------------------------------------------------------------------------------


def test_a_function_that_is_no_kernel_is_refused() -> None:
    with pytest.raises(GraphTypeError, match=r"takes a Warp kernel.*Decorate the function with @warp\.kernel"):
        launch(lambda: None, 1)


def test_another_number_of_arguments_is_refused_with_their_names() -> None:
    with pytest.raises(eagle.GraphError, match="'saxpy' takes 3 arguments, and 2 were given: it takes a, x, y"):
        launch(kernels.saxpy, 1, [2.0], [floats(1)])


@pytest.mark.parametrize("dim", [-1, (), (1, 1, 1, 1, 1)])
def test_a_size_that_cannot_be_is_refused(dim: Any) -> None:
    with pytest.raises(eagle.GraphError, match="dim is"):
        launch(kernels.in_place, dim, [floats(1)])


def test_a_size_that_is_no_number_is_refused() -> None:
    with pytest.raises(GraphTypeError, match="dim is a number of threads"):
        launch(kernels.in_place, 1.5, [floats(1)])


def test_an_array_for_a_number_is_refused() -> None:
    with pytest.raises(PlaneTypeError, match="argument 'a' of kernel 'saxpy' is passed by value"):
        launch(kernels.saxpy, 1, [np.ones(1), floats(1)], [floats(1)])


def test_a_number_for_an_array_is_refused() -> None:
    with pytest.raises(PlaneTypeError, match=r"plane 'x': 1\.0 .float. is a number"):
        eagle.Graph().add_node(launch(kernels.saxpy, 1, [2.0, 1.0], [floats(1)]))


def test_another_structure_is_refused() -> None:
    with pytest.raises(PlaneTypeError, match="argument 'pair' of kernel 'weighted' is a structure Pair"):
        launch(kernels.weighted, 1, [2.0], [floats(1)])


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (np.ones(4), "takes an array of float32 along one axis, and this one is float64"),
        (np.ones((2, 2), np.float32), r"float32\[2, 2\]"),
        (wp.zeros(4, dtype=wp.vec3, device="cpu"), r"float32\[4, 3\]"),
    ],
    ids=["dtype", "axes", "vectors"],
)
def test_other_elements_than_the_kernels_are_refused_by_name(x: Any, says: str) -> None:
    with pytest.raises(PlaneError, match=f"node 'saxpy', plane 'x': .*{says}"):
        eagle.Graph().add_node(launch(kernels.saxpy, 4, [2.0, x], [floats(1)]))


def test_vectors_torn_apart_are_refused() -> None:
    with pytest.raises(PlaneError, match="tear its elements apart"):
        eagle.Graph().add_node(launch(kernels.push, 3, [], [np.zeros((3, 6), np.float32)[:, ::2], wp.vec3()]))


def test_an_array_that_cannot_be_written_is_refused() -> None:
    y = np.zeros(4)
    y.flags.writeable = False
    with pytest.raises(PlaneError, match="plane 'y': it is written, and the array is read-only"):
        eagle.Graph().add_node(launch(kernels.double, 4, [np.ones(4)], [y]))


def test_an_array_that_was_resized_is_refused_at_launch() -> None:
    x, y = np.ones(4), np.zeros(4)
    g = eagle.Graph().add_node(launch(kernels.double, 4, [x], [y])).build()
    x.resize(100_000, refcheck=False)
    with pytest.raises(PlaneError, match="node 'double', plane 'x': the array moved or was resized"):
        g.launch()


def test_the_public_module_has_two_names() -> None:
    import eagle_warp

    assert eagle_warp.launch is launch
    assert sys.modules["eagle.frameworks.warp"].launch is launch
