"""Graphs with matplotlib."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from picture_graphs import HOSTILE, graphs, nothing

import eagle
from eagle.graph import opaque


def small() -> eagle.Graph:
    x, y = np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(opaque(nothing, writes={"y": y}), name="double")
    return g.add_node(opaque(nothing, reads={"y": y}, writes={"x": x}), name="shift")


def words(figure: Figure, *roles: str) -> list[Any]:
    return [
        patch
        for patch in figure.axes[0].patches
        if isinstance(patch, PathPatch) and patch.get_gid() and (not roles or patch.get_gid() in roles)
    ]


def test_it_is_a_plain_figure_and_pyplot_is_not_touched() -> None:
    before = "matplotlib.pyplot" in sys.modules
    figure = small().plot()
    assert type(figure) is Figure
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_it_draws_into_axes_of_ones_own() -> None:
    figure = Figure(figsize=(3, 3))
    left, right = figure.subplots(1, 2)
    assert small().plot(right) is figure
    assert right.patches
    assert not left.patches


def test_edge_labels_and_schedule_can_be_left_out() -> None:
    g = small()
    assert words(g.plot(), "plane")
    assert not words(g.plot(edge_labels=False), "plane")
    assert words(g.plot(), "stage")
    assert not words(g.plot(show_schedule=False), "stage")


def test_a_legend_names_the_kinds_of_edges_that_are_there() -> None:
    x = np.zeros(2)
    flows = len(words(small().plot(), "legend"))
    g = small().add_node(opaque(nothing, reads={"x": x})).add_node(opaque(nothing, writes={"x": x}))
    assert len(words(g.plot(), "legend")) == flows + 1


@settings(max_examples=8)
@given(graphs(most=3))
def test_words_overlap_no_other_words(g: eagle.Graph) -> None:
    boxes = [patch.get_path().get_extents() for patch in words(g.plot()) if len(patch.get_path())]
    for one, other in combinations(boxes, 2):
        across = min(one.x1, other.x1) - max(one.x0, other.x0)
        down = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert across <= 0 or down <= 0


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_any_name_is_drawn_without_a_warning(name: str, tmp_path: Any) -> None:
    x = np.zeros(1)
    g = eagle.Graph().add_node(opaque(nothing, writes={name: x}), name=name)
    g.plot().savefig(tmp_path / "graph.png")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_it_is_saved_in_any_format(suffix: str, tmp_path: Any) -> None:
    small().build().plot().savefig(tmp_path / f"graph.{suffix}")
    assert (tmp_path / f"graph.{suffix}").stat().st_size > 1000


def test_an_empty_graph_is_a_figure_too(tmp_path: Any) -> None:
    eagle.Graph().plot().savefig(tmp_path / "graph.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "eagle-core\[plot\]"') as caught:
        small().plot()
    assert isinstance(caught.value, eagle.BackendUnavailable)
