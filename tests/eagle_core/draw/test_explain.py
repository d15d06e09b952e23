"""Why one node waits for another, and what a race looks like."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from picture_graphs import graphs, nothing
from random_graphs import Case, closure, stages

import eagle
from eagle.graph import opaque


def test_every_hazard_is_told_with_its_plane() -> None:
    x, y = np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(opaque(nothing, reads={"x": x}, writes={"y": y}), name="a")
    g.add_node(opaque(nothing, reads={"in": y}, writes={"x": x, "y": y}), name="b")
    assert g.explain("a", "b") == (
        "b waits for a: y, data flows (RAW: read after write); x, must wait to overwrite (WAR: write after read); "
        "y, same output (WAW: write after write)."
    )


def test_a_way_by_other_nodes_is_told_step_by_step() -> None:
    x, y, z = np.zeros(2), np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(eagle.copy(x, into=y), name="a").add_node(eagle.copy(y, into=z), name="b")
    g.add_node(opaque(nothing, reads={"z": z}), name="c")
    assert g.explain("a", "c") == (
        "c waits for a by way of b: b waits for a (into, data flows (RAW: read after write)); "
        "c waits for b (into, data flows (RAW: read after write))."
    )


def test_nodes_that_share_nothing_may_overlap() -> None:
    x, y, z, w = (np.zeros(2) for _ in range(4))
    g = eagle.Graph().add_node(eagle.copy(x, into=y), name="a").add_node(eagle.copy(z, into=w), name="b")
    assert g.explain("a", "b").startswith("a and b may overlap")


def test_siblings_may_overlap_unless_they_would_race() -> None:
    x, y, z = np.zeros(2), np.zeros(2), np.zeros(2)
    parts = [
        opaque(nothing, reads={"x": x}, writes={"y": y}, name="a"),
        opaque(nothing, reads={"x": x}, name="b"),
        opaque(nothing, reads={"y": y}, writes={"z": z}, name="c"),
    ]
    g = eagle.Graph().add_group(parts)
    assert "they may overlap" in g.explain("a", "b")
    assert "would race, which build refuses: a writes y, c reads y" in g.explain("a", "c")


def test_what_eagle_cannot_see_into_keeps_the_order_of_adding() -> None:
    g = eagle.Graph().add_node(opaque(nothing), name="a").add_node(opaque(nothing), name="b")
    assert g.explain("a", "b") == (
        "b waits for a: eagle cannot see into a and b, which keep their places in the order of adding. "
        "They share no memory that either writes."
    )


def test_a_group_is_waited_for_as_a_whole() -> None:
    x, y, z = np.zeros(2), np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_group([eagle.copy(x, into=y, name="a"), eagle.copy(x, into=z, name="b")])
    g.add_node(opaque(nothing), name="c")
    assert "the group at stage 0 starts and ends as a whole" in g.explain("a", "c")


def test_a_later_node_is_not_waited_for() -> None:
    x = np.zeros(2)
    g = (
        eagle.Graph()
        .add_node(opaque(nothing, writes={"x": x}), name="a")
        .add_node(opaque(nothing, reads={"x": x}), name="b")
    )
    assert g.explain("b", "a").startswith("a does not wait for b, which comes after it. The other way round: b waits")
    assert g.explain("a", "a") == "a is one node, which does not wait for itself."


def test_a_long_way_is_told_by_its_ends() -> None:
    planes = [np.zeros(1) for _ in range(21)]
    g = eagle.Graph()
    for number in range(20):
        g.add_node(eagle.copy(planes[number], into=planes[number + 1]), name=f"n{number}")
    text = g.explain("n0", "n19")
    assert "by way of n1, n2, n3, 14 more and n18" in text
    assert "and so on" in text
    assert len(text) < 600


def test_an_unknown_node_is_refused_with_a_suggestion() -> None:
    g = eagle.Graph().add_node(opaque(nothing), name="double")
    with pytest.raises(eagle.GraphError, match=r"no node 'duoble'.*Did you mean 'double'"):
        g.explain("double", "duoble")
    with pytest.raises(TypeError, match="explain takes the labels"):
        g.explain(0, "double")  # type: ignore[arg-type]


@pytest.mark.property
@given(stages, st.data())
def test_it_agrees_with_the_order_that_has_to_be_kept(program: list[list[list[object]]], data: st.DataObject) -> None:
    case = Case(program)  # type: ignore[arg-type]
    assume(len(case.nodes) > 1 and not case.races())
    i, j = sorted(data.draw(st.lists(st.integers(0, len(case.nodes) - 1), min_size=2, max_size=2, unique=True)))
    labels = case.graph.node_labels()
    waits = case.graph.explain(labels[i], labels[j])
    ordered = (i, j) in closure(case.order(), len(case.nodes))
    assert ("may overlap" not in waits) == ordered
    hazards = [edge for edge in case.graph.edges() if (edge.src, edge.dst) == (i, j)]
    assert all(f"{edge.plane}, {edge.meaning}" in waits for edge in hazards)


@given(graphs(most=4))
def test_any_two_nodes_can_be_asked_about(g: eagle.Graph) -> None:
    labels = g.node_labels()
    for a in labels[:4]:
        for b in labels[-4:]:
            g.explain(a, b).encode()


# races ----------------------------------------------------------------------------------------------------------------

RACE = """\
  ┌───────┐         ┌───────┐
  │ left  │         │ right │
  └───┬───┘         └───┬───┘
      │ writes x        │ reads y
      └────────┬────────┘
        the same memory"""


def racing(left: str = "left", right: str = "right") -> eagle.RaceError:
    x = np.zeros(2)
    parts = [opaque(nothing, writes={"x": x}, name=left), opaque(nothing, reads={"y": x}, name=right)]
    with pytest.raises(eagle.RaceError) as caught:
        eagle.Graph().add_group(parts).build()
    return caught.value


def test_a_race_shows_the_two_nodes_and_the_planes() -> None:
    (note,) = racing().__notes__
    assert note == RACE


def test_a_race_on_a_plain_stream_is_drawn_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    (note,) = racing("é", "b\n").__notes__
    assert note.isascii()


def test_a_race_of_long_names_stays_small() -> None:
    (note,) = racing("x" * 500, "y" * 500).__notes__
    assert max(map(len, note.splitlines())) < 100
