"""Building and running: backend choice, refusals, failures, callers in each other's way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
from eagle.errors import GraphTypeError
from eagle.graph import opaque


def nothing() -> None:
    """A step that does nothing."""


class OnDevice:
    """An array that only says where it is on a CUDA device; nothing may read it."""

    def __init__(self, address: int = 1 << 40, shape: tuple[int, ...] = (8,)) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": "<f8",
            "data": (address, False),
            "strides": None,
            "version": 3,
        }


# refusals -------------------------------------------------------------------------------------------------------------


def test_an_empty_graph_is_refused() -> None:
    with pytest.raises(eagle.GraphError, match="empty"):
        eagle.Graph().build()


def test_a_second_build_is_refused() -> None:
    g = eagle.Graph().add_node(opaque(nothing)).build()
    with pytest.raises(eagle.GraphError, match="built already"):
        g.build()


def test_adding_to_a_built_graph_is_refused() -> None:
    g = eagle.Graph().add_node(opaque(nothing)).build()
    with pytest.raises(eagle.GraphError, match="nothing can be added"):
        g.add_node(opaque(nothing))
    assert g.num_nodes() == 1


@pytest.mark.parametrize("call", ["launch", "enqueue", "synchronize"])
def test_running_before_the_build_says_to_build(call: str) -> None:
    with pytest.raises(eagle.BuildError, match=r"Call build\(\) first"):
        getattr(eagle.Graph().add_node(opaque(nothing)), call)()


@pytest.mark.parametrize("call", ["launch", "enqueue"])
def test_a_number_of_repetitions_is_a_whole_number_not_negative(call: str) -> None:
    g = eagle.Graph().add_node(opaque(nothing)).build()
    with pytest.raises(eagle.GraphError, match="n is -1"):
        getattr(g, call)(-1)
    with pytest.raises(GraphTypeError, match=r"2\.0"):
        getattr(g, call)(2.0)
    with pytest.raises(eagle.GraphError, match="at most"):
        getattr(g, call)(2**64)


def test_a_race_names_both_nodes_and_both_planes_and_what_to_do() -> None:
    x = np.zeros(8)
    g = eagle.Graph()
    g.add_group(
        [
            opaque(nothing, writes={"head": x[:5]}),
            [opaque(nothing), opaque(nothing, reads={"tail": x[4:]}, name="sum")],
        ],
        names=["left", "right"],
    )
    assert g.edges() == ()
    with pytest.raises(eagle.RaceError) as caught:
        g.build()
    text = str(caught.value)
    for part in ("'left'", "'head'", "writes", "'sum'", "'tail'", "reads", "one branch"):
        assert part in text
    assert (caught.value.nodes, caught.value.planes) == (("left", "sum"), ("head", "tail"))
    assert g.backend is None


def test_a_race_between_many_is_counted() -> None:
    x = np.zeros(8)
    g = eagle.Graph().add_group([opaque(nothing, writes=x) for _ in range(4)])
    with pytest.raises(eagle.RaceError, match="5 more pairs"):
        g.build()


def test_branches_may_read_the_same_and_write_apart() -> None:
    x, y = np.zeros(8), np.zeros((8, 2))
    g = eagle.Graph().add_group([opaque(nothing, reads=x, writes=y[:, k]) for k in range(2)])
    assert g.build().schedule == ("work_share",)


def test_a_graph_that_mixes_host_and_device_planes_is_refused() -> None:
    g = eagle.Graph()
    g.add_node(opaque(nothing, reads={"h": np.zeros(8)}), name="host")
    g.add_node(opaque(nothing, reads={"d": OnDevice()}), name="device")
    with pytest.raises(eagle.GraphError, match="mixes") as caught:
        g.build()
    for part in ("'h'", "'host'", "'d'", "'device'", "eagle.copy"):
        assert part in str(caught.value)
    assert g.edges() == ()


@pytest.mark.parametrize(("array", "backend"), [(np.zeros(8), "gpu"), (OnDevice(), "cpu")])
def test_a_backend_that_disagrees_with_the_planes_is_refused(array: Any, backend: str) -> None:
    g = eagle.Graph().add_node(opaque(nothing, reads={"p": array}), name="n")
    with pytest.raises(eagle.GraphError, match=rf"backend '{backend}' disagrees.*plane 'p' of node 'n'") as caught:
        g.build(backend=backend)
    assert (caught.value.nodes, caught.value.planes) == (("n",), ("p",))


def test_planes_nobody_holds_say_which_distribution_to_install(without_cuda: None) -> None:
    g = eagle.Graph().add_node(opaque(nothing, reads={"d": OnDevice()}))
    with pytest.raises(eagle.BackendUnavailable, match="Install the distribution eagle-cuda"):
        g.build()
    with pytest.raises(eagle.BackendUnavailable, match="Install the distribution eagle-cuda"):
        g.build(backend="gpu")


def test_an_unknown_backend_is_refused_with_the_nearest_one() -> None:
    g = eagle.Graph().add_node(opaque(nothing))
    with pytest.raises(eagle.BackendUnavailable, match="Did you mean 'cpu'"):
        g.build(backend="cpus")
    with pytest.raises(GraphTypeError, match="backend is a string"):
        g.build(backend=3)  # type: ignore[arg-type]
    assert g.build().backend == "cpu"


def test_device_arrays_are_compared_and_never_read(without_cuda: None) -> None:
    base = 1 << 40
    g = eagle.Graph()
    g.add_node(opaque(nothing, writes={"a": OnDevice(base)}))
    g.add_node(opaque(nothing, reads={"b": OnDevice(base + 32)}))
    g.add_node(opaque(nothing, reads={"c": OnDevice(base + 64)}))
    assert [(e.src, e.dst, e.kind) for e in g.edges()] == [(0, 1, "RAW")]
    with pytest.raises(eagle.PlaneError, match="no backend here can look into the cuda memory of a OnDevice"):
        eagle.SkipGuard(OnDevice()).evaluate()


def test_a_copy_has_no_say_in_the_backend_unless_it_is_alone(without_cuda: None) -> None:
    host, device = np.zeros(8), OnDevice()
    g = eagle.Graph().add_node(opaque(nothing, reads=host)).add_node(eagle.copy(host, into=device))
    with pytest.raises(eagle.BuildError, match=r"node 'copy', plane 'into': it is in cuda memory.*across devices"):
        g.build()
    alone = eagle.Graph().add_node(eagle.copy(host, into=device))
    with pytest.raises(eagle.BackendUnavailable, match="eagle-cuda"):
        alone.build()


# planes that move -----------------------------------------------------------------------------------------------------


def test_a_plane_resized_between_add_and_build_is_refused_and_looking_still_works() -> None:
    x = np.zeros(8)
    g = eagle.Graph().add_node(opaque(nothing, reads={"x": x}), name="n")
    x.resize(1 << 20, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'x': the array moved or was resized"):
        g.build()
    assert g.edges() == ()
    assert "n" in str(g)


@pytest.mark.parametrize("make", [lambda x, y: eagle.copy(x, into=y), lambda x, y: eagle.reduce(x, y[:1])])
def test_a_plane_that_moves_after_the_build_is_refused_by_name(make: Any) -> None:
    x, y = np.zeros(8), np.zeros(8)
    g = eagle.Graph().add_node(make(x, y), name="n").build().launch()
    x.resize(1 << 20, refcheck=False)
    with pytest.raises(eagle.PlaneError, match=r"node 'n', plane .*moved or was resized"):
        g.launch()


def test_a_plane_that_shrinks_in_place_is_refused() -> None:
    x, y = np.zeros(8), np.zeros(8)
    g = eagle.Graph().add_node(eagle.copy(x, into=y)).build().launch()
    x.resize(4, refcheck=False)
    with pytest.raises(eagle.PlaneError, match=r"float64\[8\].*float64\[4\]"):
        g.launch()


def test_an_array_resized_under_a_view_of_it_is_refused() -> None:
    x, y = np.zeros(8), np.zeros(4)
    g = eagle.Graph().add_node(eagle.copy(x[::2], into=y)).build().launch()
    x.resize(1 << 20, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="moved or was resized"):
        g.launch()


def test_an_opaques_plane_is_checked_too_when_a_copy_is_in_the_graph() -> None:
    x, y, z = np.zeros(8), np.zeros(8), np.zeros(8)
    g = eagle.Graph().add_node(opaque(nothing, reads={"z": z}), name="o").add_node(eagle.copy(x, into=y)).build()
    z.resize(1 << 20, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'o', plane 'z'"):
        g.launch()


def test_planes_inside_a_conditional_are_checked() -> None:
    x, y = np.zeros(8), np.zeros(8)
    step = eagle.skippable(eagle.copy(x, into=y), eagle.SkipGuard.nonzero(np.ones(1)))
    g = eagle.Graph().add_node(step, name="maybe").build().launch()
    y.resize(1 << 20, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'maybe', plane 'into'"):
        g.launch()


# failures -------------------------------------------------------------------------------------------------------------


def test_an_exception_in_a_node_propagates_unchanged_with_a_note_and_the_graph_stays_usable() -> None:
    log: list[str] = []

    class Unwell(Exception):
        pass

    error = Unwell("third time")

    def fail() -> None:
        log.append("fail")
        if log.count("fail") == 3:
            raise error

    g = eagle.Graph()
    g.add_node(opaque(lambda: log.append("first")), name="first")
    g.add_node(opaque(fail), name="fails")
    g.add_node(opaque(lambda: log.append("last")), name="last")
    g.build()
    with pytest.raises(Unwell) as caught:
        g.launch(5)
    assert caught.value is error
    assert caught.value.__notes__ == ["in node 'fails' (kind 'opaque'), stage 1 of the graph, repetition 3"]
    assert log == ["first", "fail", "last"] * 2 + ["first", "fail"]
    del log[:]
    g.launch()
    assert log == ["first", "fail", "last"]


def test_a_keyboard_interrupt_passes_through_and_the_graph_stays_usable() -> None:
    x = np.zeros(1)

    def interrupt() -> None:
        x[0] += 1
        if x[0] == 1:
            raise KeyboardInterrupt

    g = eagle.Graph().add_node(opaque(interrupt), name="n").build()
    with pytest.raises(KeyboardInterrupt) as caught:
        g.launch()
    assert "node 'n'" in caught.value.__notes__[0]
    g.launch()
    assert x[0] == 2


def test_a_failed_build_leaves_the_graph_buildable() -> None:
    x = np.zeros(0)
    g = eagle.Graph().add_node(opaque(nothing))
    with pytest.raises(eagle.BuildError, match="build option 'fast'"):
        g.build(fast=True)
    assert (g.backend, g.schedule) == (None, ())
    g.add_node(opaque(nothing, reads=x)).build().launch()


def test_every_tier_is_a_plain_call_on_the_cpu_in_groups_and_conditionals_too() -> None:
    log: list[str] = []
    on = eagle.SkipGuard.nonzero(np.ones(1))
    g = eagle.Graph()
    g.add_node(opaque(lambda: log.append("eager"), eager=True))
    g.add_group([opaque(lambda: log.append("stream"), stream=7), opaque(lambda: log.append("eager"), eager=True)])
    g.add_node(eagle.skippable(opaque(lambda: log.append("inside"), stream=7), on))
    assert "[stream]" in str(g)
    g.build().launch()
    assert log == ["eager", "stream", "eager", "inside"]
    assert "[host]" in str(g)
    assert "[stream: cpu runs eagerly]" in str(g)
