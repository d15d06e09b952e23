"""Graphs of compiled nodes: one native call, schedules by the fixed rule, faults blamed on nodes, planes watched."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import kernels
import numpy as np
import pytest

import eagle
import eagle._core
from eagle.graph import opaque
from eagle_cpu import BRANCH_TASKS_MAX_SAMPLES, team

affine, bump, divide = (eagle.deploy(kernel) for kernel in (kernels.affine, kernels.bump, kernels.divide))


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


def bumped(samples: int = 10, count: int = 1) -> tuple[np.ndarray, list[eagle.BoundPlan]]:
    x = np.zeros(samples)
    return x, [bump.bind(x=x) for _ in range(count)]


def built(g: eagle.Graph) -> Any:
    return g._executable


def native_calls(g: eagle.Graph) -> int:
    return len(built(g)._pieces.calls)


# one native call ------------------------------------------------------------------------------------------------------


def test_a_graph_of_plans_is_one_native_call_for_all_repetitions() -> None:
    x, plans = bumped(count=50)
    g = eagle.Graph()
    for plan in plans:
        g.add(plan)
    g.build().launch(3)
    assert native_calls(g) == 1
    assert (x == 150).all()
    g.launch(0)
    assert (x == 150).all()


def test_python_nodes_split_it_into_as_few_calls_as_possible() -> None:
    x, plans = bumped(count=5)
    seen: list[float] = []
    look = opaque(lambda: seen.append(x[0]), reads={"x": x})
    g = eagle.Graph().add(plans[0]).add(plans[1]).add_node(look).add(plans[2]).add(plans[3]).add(plans[4])
    g.build().launch(2)
    assert native_calls(g) == 3
    assert seen == [2, 7]
    assert (x == 10).all()


def test_native_nodes_of_a_body_are_one_call_too() -> None:
    x, plans = bumped(count=2)
    on = np.array([1], np.int32)
    step = eagle.repeat_while((plans[0].launch, plans[1].launch), eagle.SkipGuard.nonzero(on), 5)
    eagle.Graph().add_node(step).build().launch(2)
    assert (x == 20).all()


# schedules ------------------------------------------------------------------------------------------------------------


def test_the_limit_has_the_name_and_the_value_of_the_specification() -> None:
    assert eagle._core.BRANCH_TASKS_MAX_SAMPLES == BRANCH_TASKS_MAX_SAMPLES == 4096
    with pytest.raises(AttributeError, match="no attribute 'OTHER'"):
        _ = eagle._core.OTHER


def test_without_the_cpu_plugin_the_limit_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_DISABLE_PLUGINS", "cpu")
    eagle.plugin.refresh()
    try:
        with pytest.raises(ModuleNotFoundError, match=r"brings eagle\._core\. pip install eagle-cpu"):
            _ = eagle._core.BRANCH_TASKS_MAX_SAMPLES
    finally:
        monkeypatch.undo()
        eagle.plugin.refresh()


@pytest.mark.parametrize(
    ("samples", "size", "word"),
    [
        ((10, 4096), 2, "branch_tasks"),
        ((10, 4097), 2, "work_share"),
        ((10, 10), 1, "work_share"),
        ((0, 0), 8, "branch_tasks"),
    ],
)
def test_a_fork_of_plans_is_scheduled_by_samples_and_threads(samples: tuple[int, int], size: int, word: str) -> None:
    team.set_team_size(size)
    (x, one), (y, two) = bumped(samples[0]), bumped(samples[1], 2)
    g = eagle.Graph().add_group([one, two]).add(bump.bind(x=y)).build()
    assert g.schedule == (word, "work_share")
    team.set_team_size(3)
    g.launch(2)
    assert g.schedule == (word, "work_share")
    assert (x == 2).all()
    assert (y == 6).all()


def test_a_branch_with_python_code_work_shares() -> None:
    (x, one), (y, two) = bumped(), bumped()
    z, on = np.zeros(10), np.array([1.0])
    skipped = eagle.skippable(bump.bind(x=z).launch, eagle.SkipGuard.nonzero(on))
    for other in (opaque(lambda: np.add(z, 1, out=z), reads={"z": z}, writes={"z": z}), skipped):
        g = eagle.Graph().add_group([one, [two[0], other]]).build().launch(5)
        assert g.schedule == ("work_share",)
    assert (x == 10).all()
    assert (y == 10).all()
    assert (z == 10).all()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_number_of_threads_may_change_after_the_build(size: int) -> None:
    branches = [bumped(1000, 3) for _ in range(7)]
    g = eagle.Graph().add_group([plans for _, plans in branches]).build()
    team.set_team_size(size)
    g.launch(200)
    assert all((x == 600).all() for x, _ in branches)


# overlap --------------------------------------------------------------------------------------------------------------


def test_plain_stages_that_nothing_orders_overlap_and_the_notes_say_so() -> None:
    (x, one), (y, two) = bumped(1000, 2), bumped(1000)
    z = np.zeros(1000)
    total = eagle.deploy(kernels.sum_and_difference).bind(a=x, b=y, total=z, difference=np.zeros(1000))
    g = eagle.Graph().add(one[0], name="x1").add(two[0], name="y").add(one[1], name="x2").add(total).build()
    assert g.schedule == ("work_share",) * 4
    assert "side by side, because nothing orders them: 'x1', 'x2'; 'y'" in g.fusion()
    g.launch(100)
    assert (z == 300).all()


@pytest.mark.parametrize(("samples", "size"), [(4097, 4), (10, 1)])
def test_plain_stages_do_not_overlap_beyond_the_rule(samples: int, size: int) -> None:
    team.set_team_size(size)
    g = eagle.Graph().add(bumped(samples)[1][0]).add(bumped(samples)[1][0]).build()
    assert "side by side" not in g.fusion()


def test_nodes_of_a_fork_that_work_shares_do_not_overlap() -> None:
    (x, one), (y, two), (z, three) = bumped(10), bumped(10), bumped(5000)
    g = eagle.Graph().add_group([one, two, three]).build()
    assert g.schedule == ("work_share",)
    assert "side by side" not in g.fusion()
    assert native_calls(g) == 1
    g.launch(3)
    assert x[0] == y[0] == z[0] == 3


# faults ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("samples", [1000, 5000])
def test_the_lowest_node_and_sample_that_failed_is_raised_and_its_repetition_finished(size: int, samples: int) -> None:
    team.set_team_size(size)
    a, good, bad = np.ones(samples, np.int32), np.ones(samples, np.int32), np.ones(samples, np.int32)
    bad[[7, 900]] = 0
    outs = [np.zeros(samples, np.int32) for _ in range(3)]
    (x, one), (y, two) = bumped(samples), bumped(samples)
    later: list[int] = []
    g = eagle.Graph()
    fine = [divide.bind(a=a, b=good, out=outs[0]), *one]
    g.add_group([fine, divide.bind(a=a, b=bad, out=outs[1])], names=["fine", "bad"])
    g.add(divide.bind(a=a, b=bad, out=outs[2]), name="late").add(two[0])
    g.add_node(opaque(lambda: later.append(1)))
    g.build()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match=r"for sample 7 of kernel 'divide'") as raised:
            g.launch(5)
        assert "in node 'bad' (kind 'launch'), stage 0 of the graph, repetition 1" in raised.value.__notes__[0]
    assert later == []
    assert (x == 2).all()
    assert (y == 2).all()
    bad[:] = 1
    g.launch()
    assert later == [1]


def test_a_fault_in_a_later_repetition_is_blamed_on_it() -> None:
    left, b = np.full(10, 1, np.int32), np.full(10, 3, np.int32)
    count = eagle.deploy(kernels.count_down)
    done, out = np.zeros(10, bool), np.zeros(10, np.int32)
    g = eagle.Graph().add(divide.bind(a=left, b=b, out=out), name="d").add(count.bind(left=b, terminated=done)).build()
    with pytest.raises(ZeroDivisionError) as raised:
        g.launch(10)
    assert "repetition 4" in raised.value.__notes__[0]
    assert "node 'd'" in raised.value.__notes__[0]


# planes ---------------------------------------------------------------------------------------------------------------


def test_an_array_that_a_python_node_resizes_is_refused_before_the_next_native_call() -> None:
    (x, one), (y, two) = bumped(100), bumped(100)
    g = eagle.Graph().add(one[0], name="first")
    g.add_node(opaque(lambda: y.resize(50, refcheck=False))).add(two[0], name="second").build()
    with pytest.raises(eagle.PlaneError, match="node 'second', plane 'x'"):
        g.launch(3)
    assert (x == 1).all()
    with pytest.raises(eagle.PlaneError, match="node 'second', plane 'x'"):
        g.launch()
    assert (x == 1).all()


def test_the_owner_of_a_views_memory_is_watched_too() -> None:
    owner = np.zeros(100)
    x = owner[10:20]
    g = eagle.Graph().add(bump.bind(x=x), name="n").build().launch()
    owner.resize(10_000, refcheck=False)
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'x'"):
        g.launch()


def test_a_plane_that_also_owns_another_planes_memory_is_watched_as_both() -> None:
    base = np.zeros((2, 10))
    g = eagle.Graph().add(bump.bind(x=base[0]), name="view")
    g.add(eagle.deploy(kernels.turn).bind(m=np.zeros((4, 10)), v=base), name="base").build().launch()
    with warnings.catch_warnings(action="ignore"):  # setting strides is deprecated, and still works
        base.strides = (8, 8)
    with pytest.raises(eagle.PlaneError, match="node 'base', plane 'v'"):
        g.launch()


class Elsewhere:
    """An array of another library, by its interface alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


def test_arrays_of_another_library_are_watched_by_their_adapter() -> None:
    x = Elsewhere(np.zeros(100))
    g = eagle.Graph().add(bump.bind(x=x), name="n").build().launch(2)
    assert (x.array == 2).all()
    x.array = np.zeros(100)
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'x'"):
        g.launch()
    assert (x.array == 0).all()
