"""Adding nodes: what is accepted, how it is labelled, what is refused and that a refusal changes nothing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.errors import GraphTypeError, PlaneTypeError
from eagle.graph import Node, opaque


def nothing() -> None:
    """A step that does nothing."""


class Bound:
    """A bound plan, made by hand."""

    def __init__(self, array: np.ndarray, name: str | None = None) -> None:
        self.array, self.name = array, name

    def __eagle_node__(self) -> Node[Any]:
        return opaque(self._run, reads={"a": self.array}, writes={"a": self.array}, name=self.name)

    def _run(self) -> None:
        self.array += 1

    def launch(self) -> None:
        raise AssertionError("a graph runs the plan's node, not its launch")


@pytest.fixture
def x() -> np.ndarray:
    return np.zeros(4)


def planes(g: eagle.Graph, node: int = -1) -> list[tuple[str, str]]:
    placed = [placed for stage in g._stages for placed in stage.nodes][node]
    return [(plane.access.name, plane.access.mode) for plane in placed.planes]


# what is accepted -----------------------------------------------------------------------------------------------------


def test_every_method_returns_the_graph(x: np.ndarray) -> None:
    g = eagle.Graph()
    assert g.add_node(opaque(nothing)) is g
    assert g.add(Bound(x)) is g
    assert g.add_group([opaque(nothing), opaque(nothing)]) is g
    assert g.build() is g
    assert g.launch() is g
    assert g.enqueue() is g
    assert g.synchronize() is g


def test_arguments_after_the_first_are_keyword_only(x: np.ndarray) -> None:
    g = eagle.Graph()
    calls: tuple[Any, ...] = (
        lambda: g.add(Bound(x), "name"),  # type: ignore[call-arg]
        lambda: g.add_node(opaque(nothing), "name"),  # type: ignore[call-arg]
        lambda: g.add_group([], ["names"]),  # type: ignore[call-arg]
        lambda: g.build("cpu", "more"),  # type: ignore[call-arg]
    )
    for call in calls:
        with pytest.raises(TypeError):
            call()
    assert g.num_nodes() == 0


def test_a_bound_plan_is_added_by_its_node(x: np.ndarray) -> None:
    g = eagle.Graph().add(Bound(x), name="bound").build().launch(3)
    assert g.node_labels() == ("bound",)
    assert x[0] == 3


def test_a_plans_launch_is_recognised_as_the_plan(x: np.ndarray) -> None:
    step = eagle.skippable(Bound(x).launch, eagle.SkipGuard.nonzero(np.ones(1)))
    g = eagle.Graph().add_node(step)
    assert ("a", "rw") in planes(g)
    g.build().launch()
    assert x[0] == 1


def test_a_bound_plan_may_stand_in_a_group_and_in_a_conditional(x: np.ndarray) -> None:
    y, on = np.zeros(4), eagle.SkipGuard.nonzero(np.ones(1))
    g = eagle.Graph().add_group([Bound(x), [Bound(y), Bound(y)]]).add_node(eagle.skippable(Bound(x), on))
    g.build().launch()
    assert (x[0], y[0]) == (2, 2)


def test_a_callable_as_a_step_has_no_planes_but_the_guards() -> None:
    g = eagle.Graph().add_node(eagle.skippable(nothing, eagle.SkipGuard.nonzero(np.ones(1))))
    assert planes(g) == [("guard", "r")]


def test_planes_are_declared_as_a_mapping_a_list_or_one_array(x: np.ndarray) -> None:
    g = eagle.Graph()
    g.add_node(opaque(nothing, reads={"x": x}, writes=x))
    assert planes(g) == [("x", "r"), ("out0", "w")]
    g.add_node(opaque(nothing, [x, x[1:]], (x,)))
    assert planes(g) == [("in0", "r"), ("in1", "r"), ("out0", "w")]
    g.add_node(opaque(nothing, reads={"": x, "in0": x[:1], "a": x[1:]}))
    assert planes(g) == [("in1", "r"), ("in0", "r"), ("a", "r")]


def test_an_array_in_both_under_one_name_is_updated(x: np.ndarray) -> None:
    assert planes(eagle.Graph().add_node(opaque(nothing, reads={"x": x}, writes={"x": x[:]}))) == [("x", "rw")]


def test_branches_come_from_any_iterable(x: np.ndarray) -> None:
    g = eagle.Graph().add_group(opaque(nothing, name=name) for name in "abc")
    assert g.node_labels() == ("a", "b", "c")


def test_arrays_are_kept_alive_from_add_on() -> None:
    import weakref

    class Kept(np.ndarray):
        pass

    array = np.zeros(4).view(Kept)
    alive = weakref.ref(array)
    g = eagle.Graph().add_node(opaque(nothing, reads=array))
    del array
    assert alive() is not None
    del g
    assert alive() is None


# labels ---------------------------------------------------------------------------------------------------------------


def test_a_label_is_the_name_given_else_the_nodes_own_else_the_kind(x: np.ndarray) -> None:
    g = eagle.Graph()
    g.add_node(opaque(nothing, name="own"), name="given")
    g.add_node(opaque(nothing, name="own"), name="")
    g.add_node(opaque(nothing, name=""))
    g.add_node(eagle.reduce(x, np.zeros(1)))
    assert g.node_labels() == ("given", "own", "opaque", "reduce")


def test_duplicates_get_the_next_free_suffix() -> None:
    g = eagle.Graph()
    for name in ("scale", "scale", "scale_3", "scale", "scale_2"):
        g.add_node(opaque(nothing), name=name)
    g.add_group([opaque(nothing), opaque(nothing), opaque(nothing)], names=["scale", "scale", "other"])
    assert g.node_labels() == (
        "scale",
        "scale_2",
        "scale_3",
        "scale_4",
        "scale_2_2",
        "scale_5",
        "scale_6",
        "other",
    )


def test_a_branch_of_several_nodes_shows_its_name_as_a_title() -> None:
    pair = [opaque(nothing, name="a"), opaque(nothing, name="b")]
    g = eagle.Graph().add_group([pair, opaque(nothing)], names=["left", "right"])
    assert g.node_labels() == ("a", "b", "right")
    assert "─ left ─" in str(g)


# what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plane", "says"),
    [
        (None, "None is not an array"),
        (3.0, "number"),
        (np.float64(3), "number"),
        ([1.0, 2.0], "list"),
        ("x", "str"),
        (bytearray(8), "frombuffer"),
    ],
)
def test_what_is_no_array_is_refused_naming_node_and_plane(plane: object, says: str) -> None:
    with pytest.raises(PlaneTypeError, match=rf"node 'n', plane 'p'.*{says}") as caught:
        eagle.Graph().add_node(opaque(nothing, reads={"p": plane}), name="n")
    assert (caught.value.nodes, caught.value.planes) == (("n",), ("p",))
    assert isinstance(caught.value, TypeError)


def test_an_object_that_offers_only_array_is_refused_because_that_copies() -> None:
    class Series:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.zeros(3)

    with pytest.raises(PlaneTypeError, match="only __array__"):
        eagle.Graph().add_node(opaque(nothing, reads=Series()))


def test_a_read_only_array_cannot_be_written(x: np.ndarray) -> None:
    x.flags.writeable = False
    eagle.Graph().add_node(opaque(nothing, reads={"x": x}))
    with pytest.raises(eagle.PlaneError, match=r"plane 'x': it is written, and .*read-only"):
        eagle.Graph().add_node(opaque(nothing, writes={"x": x}))


def test_masked_and_object_arrays_are_refused() -> None:
    with pytest.raises(eagle.PlaneError, match=r"array\.data"):
        eagle.Graph().add_node(opaque(nothing, reads=np.ma.masked_array([1.0], [True])))
    with pytest.raises(eagle.PlaneError, match="Python objects"):
        eagle.Graph().add_node(opaque(nothing, reads=np.array([{}, []], object)))


def test_two_arrays_under_one_name_are_refused(x: np.ndarray) -> None:
    with pytest.raises(eagle.PlaneError, match="two different arrays have this name"):
        eagle.Graph().add_node(opaque(nothing, reads={"x": x[1:]}, writes={"x": x}))


def test_plane_names_are_strings(x: np.ndarray) -> None:
    with pytest.raises(GraphTypeError, match="names a plane 3"):
        opaque(nothing, reads={3: x})


async def _async_step() -> None: ...


def _generator_step() -> Any:
    yield


class _AsyncCallable:
    async def __call__(self) -> None: ...


@pytest.mark.parametrize(
    "step",
    [_async_step, _generator_step, _AsyncCallable(), functools.partial(_async_step)],
    ids=["async", "generator", "async call", "partial"],
)
def test_a_callable_that_would_run_nothing_is_refused(step: Any) -> None:
    with pytest.raises(GraphTypeError, match="would run nothing"):
        opaque(step)


def test_a_callable_that_needs_arguments_is_refused() -> None:
    with pytest.raises(GraphTypeError, match="without arguments: missing a required argument: 'a'"):
        opaque(lambda a: None)  # type: ignore[arg-type,misc]
    with pytest.raises(GraphTypeError, match="callable"):
        opaque(3)  # type: ignore[arg-type]


def test_stream_and_eager_exclude_each_other() -> None:
    with pytest.raises(eagle.GraphError, match=r"stream= or eager=True"):
        opaque(nothing, stream=7, eager=True)


def test_names_that_are_no_strings_are_refused(x: np.ndarray) -> None:
    g = eagle.Graph()
    for call in (
        lambda: g.add(Bound(x), name=3),  # type: ignore[arg-type]
        lambda: g.add_node(opaque(nothing), name=b"n"),  # type: ignore[arg-type]
        lambda: g.add_group([opaque(nothing), opaque(nothing)], names=["a", 3]),  # type: ignore[list-item]
        lambda: g.add_group([opaque(nothing), opaque(nothing)], names="ab"),
        lambda: opaque(nothing, name=3),  # type: ignore[arg-type]
        lambda: Node("opaque", None, 3),  # type: ignore[arg-type]
    ):
        with pytest.raises(GraphTypeError):
            call()
    assert g.num_nodes() == 0


def test_the_wrong_method_says_which_is_right(x: np.ndarray) -> None:
    g = eagle.Graph()
    with pytest.raises(GraphTypeError, match=r"add_node\(node\)"):
        g.add(opaque(nothing))
    with pytest.raises(GraphTypeError, match=r"add\(bound\)"):
        g.add_node(Bound(x))  # type: ignore[arg-type]
    with pytest.raises(GraphTypeError, match="opaque"):
        g.add_node(nothing)  # type: ignore[arg-type]
    with pytest.raises(GraphTypeError, match="opaque"):
        g.add(nothing)
    with pytest.raises(GraphTypeError, match="bound plan"):
        g.add(3)


@pytest.mark.parametrize(
    ("branches", "says"),
    [
        ("ab", "list of branches"),
        (3, "list of branches"),
        ([opaque(nothing), []], "branch 1 of the group is empty"),
        ([opaque(nothing), nothing], "Wrap it"),
        ([opaque(nothing), "b"], "names="),
        ([opaque(nothing), [[opaque(nothing)]]], "do not nest"),
        ([opaque(nothing), 3], "neither a node nor a bound plan"),
    ],
)
def test_a_group_of_something_else_is_refused(branches: Any, says: str) -> None:
    with pytest.raises(GraphTypeError, match=says):
        eagle.Graph().add_group(branches)


def test_a_group_needs_two_branches_and_as_many_names() -> None:
    with pytest.raises(eagle.GraphError, match="two branches"):
        eagle.Graph().add_group([opaque(nothing)])
    with pytest.raises(eagle.GraphError, match="2 branches and 1 names"):
        eagle.Graph().add_group([opaque(nothing), opaque(nothing)], names=["a"])


def test_an_unknown_kind_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(eagle.GraphError, match="Did you mean 'opaque'"):
        eagle.Graph().add_node(Node("opaqe", None))


def test_a_failed_add_leaves_the_graph_as_it_was(x: np.ndarray) -> None:
    g = eagle.Graph().add_node(opaque(nothing), name="a")
    loop = eagle.repeat_while(nothing, eagle.SkipGuard.nonzero(x))
    with pytest.raises(eagle.PlaneError):
        g.add_group([loop, opaque(nothing, reads=3.0)], names=["loop", "bad"])
    g.add_node(loop, name="loop")
    assert g.node_labels() == ("a", "loop")


def test_reduce_and_copy_say_what_is_wrong_with_an_array() -> None:
    f, i, one, frozen = np.zeros(3), np.zeros(3, np.int32), np.zeros(1), np.zeros(3)
    frozen.flags.writeable = False
    cases: list[tuple[Node[Any], str]] = [
        (eagle.reduce(np.zeros((2, 2)), one), "plane 'x': reduce takes a 1-D array"),
        (eagle.reduce(np.zeros(2, np.float16), one), "plane 'x': the sum of float16"),
        (eagle.reduce(f, one, "all"), "plane 'x': the all of float64 is not defined"),
        (eagle.reduce(f.astype(">f8"), one), "the sum of >f8"),
        (eagle.reduce(f, np.zeros(2)), "plane 'out': reduce writes one element"),
        (eagle.reduce(f, np.zeros(1, np.float32)), "plane 'out'"),
        (eagle.reduce(f, f[:1]), "plane 'out': out is part of x"),
        (eagle.copy(f, into=i), "one shape and dtype"),
        (eagle.copy(f, into=np.zeros((1, 3))), "one shape and dtype"),
        (eagle.copy(f[1:], into=f[:-1]), "share memory"),
        (eagle.copy(f, into=np.lib.stride_tricks.as_strided(one, (3,), (0,))), "share memory with each other"),
        (eagle.copy(f, into=frozen), "read-only"),
        (eagle.copy(f, into=3.0), "plane 'into'"),
    ]
    for node, says in cases:
        with pytest.raises(eagle.PlaneError, match=says):
            eagle.Graph().add_node(node)
    with pytest.raises(eagle.GraphError, match="Did you mean 'sum'"):
        eagle.reduce(f, one, "sun")
    with pytest.raises(GraphTypeError, match="op is one of"):
        eagle.reduce(f, one, 3)  # type: ignore[arg-type]
