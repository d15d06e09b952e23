"""JAX functions as nodes on the CPU: checked when added, compiled once, over and by the time the next node begins."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import eagle
import hawk
from eagle.errors import GraphTypeError
from eagle.frameworks.jax import node
from eagle.graph import opaque
from eagle.plugin import BackendUnavailable, PlaneError
from hawk import Mutable, Scalar


@hawk.kernel
def halve(x: Mutable[Scalar]):
    x *= 0.5


def double(x: Any) -> dict[str, Any]:
    return {"y": 2 * x}


def aligned(values: Any) -> np.ndarray:
    """An array that JAX would read in place: it begins at a multiple of 64 bytes."""
    given = np.asarray(values)
    raw = np.zeros(given.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    array = raw[start : start + given.nbytes].view(given.dtype).reshape(given.shape)
    array[...] = given
    return array


def test_a_function_and_a_kernel_work_on_one_array_in_turn() -> None:
    x, y = np.ones(4), np.zeros(4)
    g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).add(eagle.deploy(halve).bind(x=y), name="halve")
    g.add_node(node(lambda y: {"x": y + 1.0}, {"y": y}, {"x": x}), name="back")
    g.build().launch(2)
    assert y.tolist() == [2.0] * 4
    assert x.tolist() == [3.0] * 4
    assert g.node_labels() == ("double", "halve", "back")
    assert {(edge.src, edge.dst) for edge in g.edges() if edge.kind == "RAW"} == {(0, 1), (0, 2), (1, 2)}


@pytest.mark.parametrize("make", [np.array, aligned])
def test_what_is_read_is_what_the_plane_holds_at_each_launch(make: Any) -> None:
    x, y = make([1.0, 2.0]), np.zeros(2)
    g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build().launch()
    x[:] = [10.0, 20.0]
    g.launch()
    assert y.tolist() == [20.0, 40.0]


@pytest.mark.parametrize("make", [np.array, aligned])
def test_results_that_are_the_reads_themselves_can_change_places(make: Any) -> None:
    x, y = make([1.0, 2.0]), make([3.0, 4.0])
    swap = node(lambda x, y: {"x": y, "y": x}, {"x": x, "y": y}, {"x": x, "y": y})
    eagle.Graph().add_node(swap).build().launch(3)
    assert (x.tolist(), y.tolist()) == ([3.0, 4.0], [1.0, 2.0])


@pytest.mark.parametrize("make", [np.array, aligned])
def test_an_array_of_jaxs_made_of_a_result_does_not_change_later(make: Any) -> None:
    x, y = make(np.arange(64.0)), make(np.zeros(64))
    g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build().launch()
    kept = np.array(y)
    x[:] = 0.0
    assert (y == kept).all()
    g.launch()
    assert not y.any()


def test_it_is_over_when_the_next_node_begins() -> None:
    def long(x: Any) -> dict[str, Any]:
        return {"y": jax.lax.fori_loop(0, 3000, lambda _, a: jnp.cos(a), x)}

    x, y, seen = aligned(np.ones(5000)), np.zeros(5000), []
    g = eagle.Graph().add_node(node(long, {"x": x}, {"y": y}))
    g.add_node(opaque(lambda: seen.append(y.copy()), reads={"y": y}), name="look")
    g.add_node(opaque(lambda: x.fill(np.nan), writes={"x": x}), name="overwrite")
    g.build().launch()
    np.testing.assert_allclose(seen[0], np.full(5000, 0.7390851332), rtol=1e-9)


def test_it_is_traced_once_when_it_is_added_and_never_again() -> None:
    calls = []

    def counted(x: Any) -> dict[str, Any]:
        calls.append(1)
        return {"y": x + len(calls)}

    x, y = np.zeros(3), np.zeros(3)
    step = node(counted, {"x": x}, {"y": y})
    assert not calls
    g = eagle.Graph().add_node(step)
    assert len(calls) == 1
    g.build().launch(5)
    eagle.Graph().add_node(step).build().launch()
    assert len(calls) == 1
    assert y.tolist() == [1.0] * 3


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128", "uint64"])
def test_wide_numbers_are_computed_wide_without_the_users_mode(dtype: str) -> None:
    assert not jax.config.jax_enable_x64
    one = np.ones(3, dtype)
    x, y = (one * 3**33, np.zeros(3, dtype)) if dtype != "float64" else (one * (1 + 2**-40), np.zeros(3))
    eagle.Graph().add_node(node(lambda x: {"y": x + 1}, {"x": x}, {"y": y})).build().launch()
    assert (y == x + 1).all()
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == np.float32


def test_narrow_numbers_stay_narrow_in_the_users_mode() -> None:
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    with jax.enable_x64(True):
        g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build()
    g.launch()
    assert y.tolist() == [2.0] * 3


def test_a_wide_function_built_in_the_users_wide_mode_runs_outside_it() -> None:
    x, y = np.full(3, 1 + 2**-40), np.zeros(3)
    with jax.enable_x64(True):
        g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build()
    g.launch()
    assert (y == 2 * x).all()


def test_bfloat16_is_written_as_such() -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, jnp.bfloat16)
    narrow = node(lambda x: {"y": (x / 3).astype("bfloat16")}, {"x": x}, {"y": y})
    eagle.Graph().add_node(narrow).build().launch()
    assert (y == np.asarray(jnp.ones(4) / 3, jnp.bfloat16)).all()


def test_strided_planes_of_any_library_are_read_and_written_where_they_lie() -> None:
    table = np.arange(8.0).reshape(4, 2)
    eagle.Graph().add_node(node(double, {"x": table[:, 0]}, {"y": table[::-1, 1]})).build().launch()
    assert table.tolist() == [[0.0, 12.0], [2.0, 8.0], [4.0, 4.0], [6.0, 0.0]]


def test_jaxs_own_arrays_are_read() -> None:
    x, y = jnp.arange(4.0), np.zeros(4, np.float32)
    eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build().launch()
    assert y.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_a_function_that_reads_nothing() -> None:
    y = np.zeros(4, np.int32)
    eagle.Graph().add_node(node(lambda: {"y": jnp.arange(4)}, writes={"y": y})).build().launch()
    assert y.tolist() == [0, 1, 2, 3]


def test_no_samples() -> None:
    y = np.ones(0)
    eagle.Graph().add_node(node(double, {"x": np.ones(0)}, {"y": y})).build().launch()


def test_a_function_that_was_jitted_already() -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    eagle.Graph().add_node(node(jax.jit(double), {"x": x}, {"y": y})).build().launch()
    assert y.tolist() == [2.0] * 4


def test_it_may_stand_in_conditionals_and_loops_on_the_cpu() -> None:
    x, flag = np.ones(2), np.ones(1)
    step = node(lambda x: {"x": x * 3}, {"x": x}, {"x": x})
    eagle.Graph().add_node(eagle.repeat_while(step, eagle.SkipGuard.nonzero(flag), 3)).build().launch()
    assert x.tolist() == [27.0, 27.0]


def test_graphs_in_several_threads() -> None:
    def run(number: int) -> None:
        x, y = np.full(100, float(number)), np.zeros(100)
        eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build().launch(50)
        found[number] = y[0]

    found: dict[int, float] = {}
    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: 0.0, 1: 2.0, 2: 4.0, 3: 6.0}


# refused --------------------------------------------------------------------------------------------------------------

F8 = np.ones(8)


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (lambda x: x, r"returns an array: what it writes is found by name\. Return a mapping of 'y'"),
        (lambda x: None, "returns NoneType"),
        (lambda x: {}, "the JAX function does not return 'y': it returns nothing"),
        (lambda x: {"z": x}, "does not return 'y': it returns 'z'"),
        (lambda x: {"y": x, "z": x}, r"the JAX function returns 'z', which is not among its writes"),
        (
            lambda x: {"y": x[:3]},
            r"the JAX function returns float64\[3\] for 'y': the plane is float64\[8\]",
        ),
        (lambda x: {"y": x.sum()}, r"returns float64\[\] for 'y'.*nothing is converted or broadcast"),
        (lambda x: {"y": x.astype("float32")}, r"returns float32\[8\] for 'y'.*Convert it: \.astype\('float64'\)"),
        (lambda x: {"y": [x]}, "returns a list for 'y'. Return an array"),
        (lambda x: {"y": np.ones(8, np.float32)}, r"returns float32\[8\] for 'y'"),
    ],
)
def test_a_wrong_output_is_refused_by_name_when_it_is_added(fn: Any, says: str) -> None:
    g = eagle.Graph()
    with pytest.raises(PlaneError, match=f"node 'step': .*{says}"):
        g.add_node(node(fn, {"x": F8}, {"y": np.zeros(8)}), name="step")
    assert g.node_labels() == ()


def test_an_array_of_numpys_that_jax_would_truncate_is_refused() -> None:
    with pytest.raises(PlaneError, match=r"returns float64\[8\] for 'y': the plane is float32\[8\]"):
        eagle.Graph().add_node(node(lambda: {"y": F8}, writes={"y": np.zeros(8, np.float32)}))


def test_what_a_function_raises_is_raised_unchanged() -> None:
    def broken(x: Any) -> dict[str, Any]:
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing") as raised:
        eagle.Graph().add_node(node(broken, {"x": F8}, {"y": np.zeros(8)}), name="step")
    assert any("node 'step'" in note for note in raised.value.__notes__)


def test_a_function_that_looks_at_values_is_refused_by_jax() -> None:
    with pytest.raises(jax.errors.TracerBoolConversionError):
        eagle.Graph().add_node(node(lambda x: {"y": x if x[0] > 0 else -x}, {"x": F8}, {"y": np.zeros(8)}))


@pytest.mark.parametrize("fn", [lambda: {"y": F8}, lambda z: {"y": z}, lambda x, z: {"y": x}])
def test_a_function_that_does_not_take_the_reads_by_name_is_refused(fn: Any) -> None:
    with pytest.raises(GraphTypeError, match="does not take the reads 'x' by name"):
        node(fn, {"x": F8}, {"y": F8})


@pytest.mark.parametrize("fn", [3, None, "f"])
def test_what_is_no_function_is_refused(fn: Any) -> None:
    with pytest.raises(GraphTypeError, match="takes a callable"):
        node(fn, {"x": F8}, {"y": F8})


def test_planes_without_names_are_refused() -> None:
    with pytest.raises(GraphTypeError, match="reads= of a JAX function is a mapping from names to arrays, not a list"):
        node(double, [F8], {"y": F8})


def test_a_name_that_is_no_argument_is_refused() -> None:
    with pytest.raises(GraphTypeError, match="writes= names a plane 'a b'"):
        node(double, {"x": F8}, {"a b": F8})


def test_a_function_that_writes_nothing_is_refused() -> None:
    with pytest.raises(eagle.GraphError, match="writes at least one plane"):
        node(double, {"x": F8})


def test_a_jax_array_to_write_into_is_refused_with_the_way_out() -> None:
    with pytest.raises(PlaneError, match="node 'double', plane 'y': it is written, and JAX arrays are immutable"):
        eagle.Graph().add_node(node(double, {"x": F8.astype("float32")}, {"y": jnp.zeros(8)}))


def test_two_writes_that_share_memory_are_refused() -> None:
    y = np.zeros(9)
    with pytest.raises(PlaneError, match="planes 'a' and 'b' share memory"):
        eagle.Graph().add_node(node(lambda x: {"a": x, "b": x}, {"x": F8}, {"a": y[:8], "b": y[1:]}))
    table = np.zeros((8, 2))
    eagle.Graph().add_node(node(lambda x: {"a": x, "b": x}, {"x": F8}, {"a": table[:, 0], "b": table[:, 1]}))


@pytest.mark.parametrize("dtype", [">f8", "longdouble", "datetime64[s]", "U3"])
def test_a_dtype_jax_has_not_is_refused_by_name(dtype: str) -> None:
    with pytest.raises(PlaneError, match="plane 'x': JAX has no dtype"):
        eagle.Graph().add_node(node(double, {"x": np.zeros(8, dtype)}, {"y": np.zeros(8)}))


def test_a_plane_that_was_resized_is_refused_at_launch() -> None:
    x, y = np.ones(8), np.zeros(8)
    g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build()
    x.resize(100_000, refcheck=False)
    with pytest.raises(PlaneError, match="node 'double', plane 'x': the array moved or was resized"):
        g.launch()


def test_an_argument_that_was_donated_is_refused_at_launch() -> None:
    x, y = jnp.ones(8), np.zeros(8, np.float32)
    g = eagle.Graph().add_node(node(double, {"x": x}, {"y": y})).build().launch()
    x.delete()
    with pytest.raises(PlaneError, match=r"node 'double', plane 'x': .*the JAX array was deleted, or donated"):
        g.launch()


def _launch_in_child(graph: eagle.Graph, answer: Any) -> None:
    try:
        graph.launch()
        answer.put("launched")
    except BackendUnavailable as error:
        answer.put(str(error))


@pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")
def test_a_forked_child_is_told_that_jax_does_not_survive_fork() -> None:
    y = np.zeros(8)
    g = eagle.Graph().add_node(node(double, {"x": F8}, {"y": y})).build().launch()
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    child = context.Process(target=_launch_in_child, args=(g, answer))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert "JAX's threads do not survive fork" in answer.get()


def test_the_public_module_has_two_names() -> None:
    import eagle_jax

    assert eagle_jax.node is node
    assert sys.modules["eagle.frameworks.jax"].node is node
