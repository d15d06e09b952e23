"""``g.profile``: the time of each node, as numbers, as a table, as a trace."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import eagle
from eagle.graph import opaque


def graph() -> eagle.Graph:
    x, y, total = np.zeros(100), np.zeros(100), np.zeros(1)
    g = eagle.Graph()
    g.add_node(opaque(lambda: time.sleep(0.002), writes={"x": x}), name="slow")
    g.add_group(
        [
            opaque(lambda: None, reads={"x": x}),
            opaque(lambda: y.fill(1), reads={"x": x}, writes={"y": y}),
        ],
        names=["left\nline", "right"],
    )
    return g.add_node(eagle.reduce(y, total))


def test_each_node_has_a_time_by_its_label() -> None:
    g = graph().build()
    profile = g.profile(3)
    assert tuple(profile.seconds) == g.node_labels()
    assert profile.seconds["slow"] >= 0.002
    assert all(seconds > 0 for seconds in profile.seconds.values())
    assert profile.runs == 3


def test_its_text_is_a_table_of_one_line_per_node_with_shares() -> None:
    lines = str(graph().build().profile(1)).splitlines()
    assert lines[0] == "cpu, mean of 1 run, each node by itself"
    assert [line.split()[0] for line in lines[1:]] == ["slow", "left\\nline", "right", "reduce", "all"]
    assert lines[1].endswith("####################")
    assert "100.0%" in lines[-1]


def test_the_trace_holds_the_nodes_one_after_another(tmp_path: Path) -> None:
    profile = graph().build().profile(2)
    profile.to_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert [event["name"] for event in events] == list(profile.seconds)
    assert [event["tid"] for event in events] == [0, 0, 1, 0]
    assert [event["args"]["stage"] for event in events] == [0, 1, 1, 2]
    for event, after in pairwise(events):
        assert after["ts"] == pytest.approx(event["ts"] + event["dur"])


def test_the_times_go_into_the_picture() -> None:
    g = graph().build()
    assert "time: " in g.to_svg(seconds=g.profile(1).seconds)


@pytest.mark.parametrize(("n", "message"), [(0, "n is 0"), (-1, "n is -1"), ("3", "not '3'")])
def test_a_number_of_runs_that_is_none_is_refused(n: object, message: str) -> None:
    with pytest.raises(eagle.GraphError, match=message):
        graph().build().profile(n)  # type: ignore[arg-type]


def test_runs_are_launches_and_take_the_guard() -> None:
    counted = eagle.counters()["launches"]
    seen: list[BaseException] = []

    def inside() -> None:
        try:
            g.profile(1)
        except eagle.Busy as error:
            seen.append(error)

    g = eagle.Graph().add_node(opaque(inside)).build()
    g.profile(4)
    assert len(seen) == 4
    assert eagle.counters()["launches"] == counted + 4


def test_an_exception_of_a_node_passes_through_with_its_name() -> None:
    def fail() -> None:
        raise LookupError("mine")

    g = eagle.Graph().add_node(opaque(fail), name="n").build()
    with pytest.raises(LookupError, match="mine") as caught:
        g.profile(2)
    assert "in node 'n' (kind 'opaque'), stage 0 of the graph, repetition 1" in caught.value.__notes__
