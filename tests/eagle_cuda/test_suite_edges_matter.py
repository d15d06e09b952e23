"""Removing any one edge of the graphs of the graph suite makes its tests fail under some seed."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cuda_devices
import pytest
from edge_dropping import Dropping

SUITE = Path(__file__).parent.parent / "graph_suite"
FILES = ("test_running", "test_conditionals", "test_reductions")
SEEDS = 60
SILENT = {
    "test_nodes_without_planes_keep_the_order_of_adding": 1,  # to the last node, which does nothing
    "test_a_node_may_stand_in_several_places_and_graphs": 1,  # between two nodes that do the same
    "test_a_negated_guard_with_a_baseline": 1,  # from a conditional that skips
    "test_repeat_while_stops_at_its_limit": 1,  # to the end of a body that does not touch the guard
    "test_a_loop_whose_guard_is_false_at_once_runs_nothing": 1,  # in a body that never runs
}
"""Edges on which no value of a test depends; `test_every_edge_matters` has graphs that tell such orders, too."""


def suite_tests() -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Yield the tests of the suite that run each on a device, by name."""
    for name in FILES:
        spec = importlib.util.spec_from_file_location(f"graph_suite_{name}", SUITE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for attribute, function in vars(module).items():
            if attribute.startswith("test_") and list(inspect.signature(function).parameters) == ["device"]:
                yield attribute, function


TESTS = dict(suite_tests())


@pytest.mark.emulator_only
@pytest.mark.parametrize("name", TESTS)
def test_every_edge_of_the_suite_matters(cuda: Any, emulator: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with monkeypatch.context() as patch:
        edges = Dropping(patch, None)
        TESTS[name](cuda_devices.CudaDevice())
    unseen = [
        edge
        for edge in range(edges.edges)
        if not any(fails(emulator, monkeypatch, name, edge, seed) for seed in range(SEEDS))
    ]
    assert len(unseen) == SILENT.get(name, 0), f"edges {unseen} of {edges.edges} change nothing"


def fails(emulator: Any, monkeypatch: pytest.MonkeyPatch, name: str, edge: int, seed: int) -> bool:
    """Whether a test fails under a seed when one edge is left out."""
    with monkeypatch.context() as inner:
        Dropping(inner, edge)
        emulator.seed(seed)
        try:
            TESTS[name](cuda_devices.CudaDevice())
        except AssertionError:
            return True
    return False
