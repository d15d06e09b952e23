"""Edges and order equal an oracle that enumerates bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_graphs import BUFFER, Case, Program, View, reduction, stages, views

import eagle
from eagle.access import covers, footprint, overlap
from eagle.graph import opaque
from eagle.graph.freezing import frozen
from eagle.plugin import Memory

pytestmark = pytest.mark.property


def memory(view: View, base: int = 0) -> Memory:
    return Memory(
        device=("cpu", 0),
        address=base + view.offset,
        shape=view.shape,
        strides=view.strides,
        itemsize=view.itemsize,
        dtype=f"|V{view.itemsize}",
    )


@given(views(), views(), st.sampled_from([0, 1, 4096, 2**46]))
def test_overlap_is_exact_whatever_the_addresses(a: View, b: View, base: int) -> None:
    assert overlap(footprint(memory(a, base)), footprint(memory(b, base))) == bool(a.bytes() & b.bytes())


@given(views())
def test_a_footprint_covers_the_bytes_of_its_view(a: View) -> None:
    blocks = footprint(memory(a))
    starts = [blocks.low]
    for stride, count in blocks.dims:
        starts = [start + stride * k for start in starts for k in range(count)]
    covered = {start + k for start in starts for k in range(blocks.block)}
    assert covered == a.bytes()
    assert not covered or (min(covered), max(covered) + 1) == (blocks.low, blocks.high)


@given(st.lists(views(), max_size=3), views())
def test_coverage_is_exact(outer: list[View], inner: View) -> None:
    union = set().union(*(view.bytes() for view in outer))
    assert covers([footprint(memory(view)) for view in outer], footprint(memory(inner))) == (inner.bytes() <= union)


@given(stages)
def test_edges_are_the_oracles(program: Program) -> None:
    case = Case(program)
    assert [tuple(edge) for edge in case.graph.edges()] == case.edges()


@given(stages)
def test_reduced_edges_are_all_hazards_of_the_fewest_pairs(program: Program) -> None:
    case = Case(program)
    pairs = reduction({(i, j) for i, j, _, _ in case.edges()}, len(case.nodes))
    assert [tuple(edge) for edge in case.graph.edges(reduced=True)] == [e for e in case.edges() if e[:2] in pairs]


@given(stages)
def test_before_holds_the_fewest_pairs_that_keep_the_order(program: Program) -> None:
    case = Case(program)
    assume(not case.races())
    blueprint = frozen(case.graph._stages)
    pairs = {(i, j) for j, these in enumerate(blueprint.before) for i in these}
    assert pairs == reduction(case.order(), len(case.nodes))


@given(stages)
def test_a_graph_is_refused_exactly_when_siblings_race(program: Program) -> None:
    case = Case(program)
    races = case.races()
    if not races:
        case.graph.build()
        return
    with pytest.raises(eagle.RaceError) as caught:
        case.graph.build()
    labels = case.graph.node_labels()
    first_group = min(case.place[i][0] for i, _ in races)
    i, j = min((i, j) for i, j in races if case.place[i][0] == first_group)
    assert caught.value.nodes == (labels[i], labels[j])


@given(stages, st.randoms(use_true_random=False))
def test_any_order_the_reduced_edges_allow_gives_the_serial_bits(program: Program, random: object) -> None:
    case = Case(program)
    assume(not case.races())
    expected = case.run(list(range(len(case.nodes))))
    waits = {j: {e.src for e in case.graph.edges(reduced=True) if e.dst == j} for j in range(len(case.nodes))}
    order: list[int] = []
    while waits:
        ready = sorted(j for j, these in waits.items() if not these)
        chosen = random.choice(ready)  # type: ignore[attr-defined]
        order.append(chosen)
        del waits[chosen]
        for these in waits.values():
            these.discard(chosen)
    assert case.run(order) == expected
    case.buffer[:] = np.arange(BUFFER)
    case.graph.build().launch()
    assert case.buffer.tobytes() == expected


def test_the_exact_test_gives_up_on_the_side_of_caution() -> None:
    # Sums of multiples of 6, 10 and 15 never reach 29 from below or above: disjoint, and hard to see.
    a = Memory(device=("cpu", 0), address=4096, shape=(40, 40, 40), strides=(60, 100, 150), itemsize=1, dtype="|V1")
    b = replace(a, address=a.address + 1, shape=(2, 2, 2), strides=(60, 100, 150), itemsize=9)
    assert not overlap(footprint(a), footprint(b))
    hard = replace(a, address=a.address + 30 + 50 + 75, shape=(9, 9, 9), strides=(62, 98, 154))
    exact = overlap(footprint(a), footprint(hard), max_work=10**9)
    assert overlap(footprint(a), footprint(hard), max_work=1) >= exact


def test_columns_of_one_matrix_do_not_conflict() -> None:
    matrix = np.zeros((50, 3))
    g = eagle.Graph()
    for number in range(3):
        g.add_node(opaque(lambda: None, writes={"c": matrix[:, number]}))
    assert g.edges() == ()
    assert g.num_nodes() == 3


def test_the_tail_of_an_array_overlaps_the_array() -> None:
    x = np.zeros(10)
    g = eagle.Graph()
    g.add_node(opaque(lambda: None, writes={"x": x}), name="a")
    g.add_node(opaque(lambda: None, reads={"tail": x[7:]}), name="b")
    (edge,) = g.edges()
    assert edge == eagle.Edge(0, 1, "x", "RAW")
    assert edge.meaning == "data flows"


def test_meanings_are_the_pages() -> None:
    assert [eagle.Edge(0, 1, "x", kind).meaning for kind in ("RAW", "WAR", "WAW")] == [
        "data flows",
        "must wait to overwrite",
        "same output",
    ]


def test_a_buffer_without_addresses_may_begin_at_zero() -> None:
    def offset(start: int) -> Memory:
        return Memory(device=("x", 0), address=start, shape=(2,), strides=(4,), itemsize=2, dtype="|V2", space="mine")

    assert overlap(footprint(offset(0)), footprint(offset(1)))
    assert not overlap(footprint(offset(0)), footprint(offset(2)))


def test_addresses_of_different_spaces_are_never_compared() -> None:
    here = Memory(device=("x", 0), address=64, shape=(2,), strides=(8,), itemsize=8, dtype="float64")
    there = Memory(device=("x", 0), address=64, shape=(2,), strides=(8,), itemsize=8, dtype="float64", space="other")
    assert not overlap(footprint(here), footprint(there))
