"""Guards and conditionals: what is refused, and whose a conditional is."""

from __future__ import annotations

import contextlib
import gc
import threading
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.errors import GraphTypeError
from eagle.graph import Guard, opaque


def nothing() -> None:
    """A step that does nothing."""


ON = eagle.SkipGuard.nonzero(np.ones(1))


@pytest.mark.parametrize(
    ("value", "dtype", "true"),
    [
        (0.5, np.float64, True),
        (-0.0, np.float32, False),
        (1, bool, True),
        (2**63, np.uint64, True),
        (0, np.int8, False),
    ],
)
def test_a_guard_compares_in_the_arrays_own_dtype(value: Any, dtype: Any, true: bool) -> None:
    guard = eagle.SkipGuard.nonzero(np.array([value], dtype))
    assert guard.evaluate() is true
    assert guard.negated().evaluate() is not true


def test_a_baseline_is_compared_exactly() -> None:
    a, b = np.array([2**53 + 1], np.int64), np.array([0, 2**53], np.int64)
    assert eagle.SkipGuard(a, 0, b, baseline_index=1).evaluate()
    assert eagle.SkipGuard(a, 0, b, True, baseline_index=1).negated().evaluate()


def test_a_long_double_is_compared_like_any_other() -> None:
    a, b = np.ones(1, np.longdouble), np.ones(1, np.longdouble)
    guard = eagle.SkipGuard(a, 0, b)
    assert guard.evaluate() is False
    assert guard.negated().evaluate() is True


def test_nan_in_a_guard_is_an_error() -> None:
    nan, one = np.array([np.nan]), np.ones(1)
    with pytest.raises(eagle.PlaneError, match=r"plane 'guard': .*NaN"):
        eagle.SkipGuard.nonzero(nan).evaluate()
    with pytest.raises(eagle.PlaneError, match=r"plane 'baseline': .*NaN"):
        eagle.SkipGuard(one, 0, nan).evaluate()
    g = eagle.Graph().add_node(eagle.skippable(nothing, eagle.SkipGuard.nonzero(nan)), name="maybe").build()
    with pytest.raises(eagle.PlaneError, match="NaN") as caught:
        g.launch()
    assert "in node 'maybe'" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: eagle.SkipGuard(np.zeros((2, 2))), "1-D array"),
        (lambda: eagle.SkipGuard(np.array(1.0)), "1-D array"),
        (lambda: eagle.SkipGuard(np.zeros(2, complex)), "complex128"),
        (lambda: eagle.SkipGuard(np.zeros(2, ">f8")), "native byte order"),
        (lambda: eagle.SkipGuard(np.zeros(2, "M8[s]")), "M8"),
        (lambda: eagle.SkipGuard(np.zeros(2), 2), "no element 2"),
        (lambda: eagle.SkipGuard(np.zeros(2), -1), "no element -1"),
        (lambda: eagle.SkipGuard(np.zeros(0)), "no element 0"),
        (lambda: eagle.SkipGuard(np.zeros(2), 0, np.zeros(2, np.float32)), "plane 'baseline'"),
        (lambda: eagle.SkipGuard(np.zeros(2), 0, np.zeros(2), baseline_index=5), "no element 5"),
        (lambda: eagle.SkipGuard(3.0), "number"),
    ],
)
def test_a_guard_that_cannot_be_read_is_refused_when_it_is_made(make: Any, says: str) -> None:
    with pytest.raises(eagle.PlaneError, match=says):
        make()


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(GraphTypeError, match="index of a guard"):
        eagle.SkipGuard(np.zeros(2), 0.5)  # type: ignore[arg-type]
    with pytest.raises(GraphTypeError, match=r"SkipGuard\.nonzero"):
        eagle.skippable(nothing, np.ones(1))
    with pytest.raises(GraphTypeError, match="step of skippable"):
        eagle.skippable(3, ON)
    with pytest.raises(GraphTypeError, match="needs a step"):
        eagle.repeat_while((), ON)
    with pytest.raises(GraphTypeError, match="max_iters"):
        eagle.repeat_while(nothing, ON, 2.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(eagle.GraphError, match="at least 1"):
        eagle.repeat_while(nothing, ON, limit)


def test_the_contracts_guard_is_taken_and_checked() -> None:
    flag = np.zeros(2)
    g = eagle.Graph().add_node(eagle.skippable(nothing, Guard(array=flag, index=1)))
    assert g.num_nodes() == 1
    with pytest.raises(eagle.PlaneError, match="no element 2"):
        eagle.skippable(nothing, Guard(array=flag, index=2))


def test_only_the_guards_cells_take_part_in_the_ordering() -> None:
    flags = np.zeros(4, np.int32)
    g = eagle.Graph()
    g.add_node(opaque(nothing, writes={"first": flags[:2]}))
    g.add_node(opaque(nothing, writes={"last": flags[3:]}))
    g.add_node(eagle.skippable(nothing, eagle.SkipGuard(flags, 2, flags, baseline_index=3)))
    assert [(e.src, e.dst, e.plane) for e in g.edges()] == [(1, 2, "last")]


def test_names_used_twice_inside_are_told_apart() -> None:
    a, b = np.zeros(2), np.zeros(2)
    body = (opaque(nothing, reads={"x": a}, name="one"), opaque(nothing, writes={"x": b}, name="two"))
    g = eagle.Graph().add_node(eagle.skippable(body, ON)).add_node(opaque(nothing, reads={"b": b}))
    assert [(e.plane, e.kind) for e in g.edges()] == [("two.x", "RAW")]


# one place in one graph -----------------------------------------------------------------------------------------------


def test_another_graphs_conditional_is_refused() -> None:
    loop = eagle.repeat_while(nothing, ON, 1)
    first = eagle.Graph().add_node(loop, name="first")
    with pytest.raises(eagle.GraphError, match="'second' is already in another graph"):
        eagle.Graph().add_node(loop, name="second")
    assert first.num_nodes() == 1


def test_a_conditional_stands_in_one_place() -> None:
    loop = eagle.repeat_while(nothing, ON, 1)
    g = eagle.Graph()
    with pytest.raises(eagle.GraphError, match="already in this graph"):
        g.add_group([loop, loop])
    g.add_node(loop)
    with pytest.raises(eagle.GraphError, match="already in this graph"):
        g.add_node(eagle.skippable(loop, ON))
    assert g.num_nodes() == 1


def test_a_conditional_is_free_again_once_its_graph_is_gone() -> None:
    loop = eagle.repeat_while(nothing, ON, 1)
    gc.disable()
    try:
        g = eagle.Graph().add_node(loop).build().launch()
        del g
        eagle.Graph().add_node(loop)
    finally:
        gc.enable()


def test_two_threads_cannot_both_have_a_conditional() -> None:
    for _ in range(50):
        loop = eagle.repeat_while(nothing, ON, 1)
        start = threading.Barrier(2)
        taken: list[eagle.Graph] = []

        def take(loop: Any = loop, start: threading.Barrier = start, taken: list[eagle.Graph] = taken) -> None:
            g = eagle.Graph()
            start.wait()
            with contextlib.suppress(eagle.GraphError):
                taken.append(g.add_node(loop))

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == 1


def test_a_conditional_forgets_its_last_graph() -> None:
    loop = eagle.repeat_while(nothing, ON, 3)
    g = eagle.Graph().add_node(loop).build().launch()
    assert loop.iterations == 3
    del g
    g = eagle.Graph().add_node(loop).build()
    assert g.num_nodes() == 1
    assert loop.iterations is None
    assert loop.hit_limit is None


def test_iterations_are_those_of_the_last_repetition() -> None:
    left = np.array([3])
    loop = eagle.repeat_while(opaque(lambda: np.subtract(left, 1, out=left), left, left), eagle.SkipGuard.nonzero(left))
    g = eagle.Graph().add_node(loop).build()
    assert loop.iterations is None
    g.launch()
    assert loop.iterations == 3
    g.launch()
    assert loop.iterations == 0
    assert loop.hit_limit is False


def test_a_skippable_has_no_iterations() -> None:
    step = eagle.skippable(nothing, ON)
    eagle.Graph().add_node(step).build().launch()
    assert step.iterations is None


def test_an_error_in_a_body_names_every_node_it_is_in() -> None:
    def fail() -> None:
        raise ZeroDivisionError("in the body")

    inner = eagle.repeat_while((nothing, opaque(fail, name="fails")), ON, 3, name="inner")
    g = eagle.Graph().add_node(eagle.skippable(inner, ON), name="outer").build()
    with pytest.raises(ZeroDivisionError, match="in the body") as caught:
        g.launch(2)
    notes = "\n".join(caught.value.__notes__)
    for name in ("'fails'", "'inner'", "'outer'", "repetition 1"):
        assert name in notes
