"""Large graphs: what repeats is drawn once with a count, and a part can be shown."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_graphs import nothing

import eagle
from eagle.draw.folding import fold
from eagle.draw.names import TIMES
from eagle.draw.picture import boxes_of
from eagle.draw.reading import read
from eagle.graph import opaque


class Planes(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        self[name] = np.zeros(1)
        return self[name]

    def node(self, name: str, reads: str, writes: str) -> Any:
        return opaque(
            nothing,
            reads={plane: self[plane] for plane in reads.split()},
            writes={plane: self[plane] for plane in writes.split()},
            name=name,
        )


def in_place(count: int) -> eagle.Graph:
    planes, g = Planes(), eagle.Graph()
    for _ in range(count):
        g.add_node(planes.node("scale", "x", "x"))
    return g


def chain(count: int, name: str = "{}") -> eagle.Graph:
    planes, g = Planes(), eagle.Graph()
    for number in range(count):
        g.add_node(planes.node(name.format(spelled(number)), f"p{spelled(number)}", f"p{spelled(number + 1)}"))
    return g


def spelled(number: int) -> str:
    """A number in letters, so that names have no series in common."""
    return "".join(chr(ord("a") + int(digit)) * (int(digit) + 1) for digit in str(number))


def fan_out(count: int) -> eagle.Graph:
    planes, g = Planes(), eagle.Graph()
    g.add_node(planes.node("seed", "", "x"))
    g.add_group([planes.node(f"w{number}", "x", f"out{number}") for number in range(count)])
    return g.add_node(planes.node("sum", " ".join(f"out{number}" for number in range(count)), "total"))


def at_random(count: int, seed: int = 0) -> eagle.Graph:
    random, planes, g = Random(seed), Planes(), eagle.Graph()
    for number in range(count):
        reads = " ".join(f"p{random.randrange(400)}" for _ in range(2))
        g.add_node(planes.node(f"n{number}", reads, f"p{random.randrange(400)}"))
    return g


def shown(g: eagle.Graph, **how: Any) -> str:
    stream = io.StringIO()
    g.show(file=stream, **how)
    return stream.getvalue()


def test_nodes_in_place_on_one_array_are_one_box_with_a_count() -> None:
    text = str(in_place(128))
    assert f"scale {TIMES}128" in text
    assert "stage 0-127" in text
    assert "128 nodes in 1 box; around= and depth= show a part" in text


def test_a_small_graph_is_not_folded() -> None:
    assert f"{TIMES}" not in str(in_place(24))
    assert "scale_24" in str(in_place(24))


def test_a_pattern_of_several_nodes_is_a_frame_with_the_count() -> None:
    planes, g = Planes(), eagle.Graph()
    g.add_node(planes.node("init", "", "x v a"))
    for _ in range(40):
        for name, reads, writes in (("kick", "v a", "v"), ("drift", "x v", "x"), ("force", "x", "a")):
            g.add_node(planes.node(name, reads, writes))
    text = str(g.add_node(planes.node("energy", "x v", "e")))
    assert f" {TIMES}40 " in text
    for name in ("init", "kick", "drift", "force", "energy"):
        assert text.count(f" {name} ") == 1


def test_a_group_that_repeats_is_one_row_with_counts() -> None:
    planes, g = Planes(), eagle.Graph()
    for _ in range(30):
        g.add_group([planes.node("left", "x", "x"), planes.node("right", "y", "y")])
    text = str(g)
    assert f"left {TIMES}30" in text
    assert f"right {TIMES}30" in text


def test_siblings_that_are_alike_are_one_box() -> None:
    text = str(fan_out(200))
    assert f"w0 … w199 {TIMES}200" in text
    assert "out0 … out199" in text


def test_siblings_that_differ_in_what_they_wait_for_stay_apart() -> None:
    planes, g = Planes(), eagle.Graph()
    g.add_group([planes.node("a", "", "x"), planes.node("b", "", "y")])
    g.add_group([planes.node(f"w{number}", "x" if number % 2 else "y", f"o{number}") for number in range(30)])
    text = str(g)
    assert f"w0 … w28 {TIMES}15" in text
    assert f"w1 … w29 {TIMES}15" in text


def test_a_chain_of_different_nodes_is_its_ends() -> None:
    text = str(chain(1000))
    assert "… 998 nodes …" in text
    assert spelled(0) in text
    assert "iiiiiiiii" in text or spelled(999)[:8] in text


def test_a_group_of_many_different_branches_leaves_out_the_middle() -> None:
    planes, g = Planes(), eagle.Graph()
    g.add_group([planes.node(spelled(number), f"i{spelled(number)}", f"o{spelled(number)}") for number in range(200)])
    assert "… 189 nodes …" in str(g)


def test_a_random_graph_shows_its_first_and_its_last_stages() -> None:
    text = str(at_random(1000))
    assert "n999" in text
    assert "nodes …" in text
    assert len(text.splitlines()) < 500


@pytest.mark.property
@given(st.integers(25, 120), st.integers(0, 2**32), st.integers(1, 40))
def test_folding_keeps_every_node_once_and_every_link_forward(count: int, seed: int, planes: int) -> None:
    random, g = Random(seed), eagle.Graph()
    arrays = [np.zeros(1) for _ in range(planes)]
    for _ in range(count):
        reads = {f"p{number}": arrays[number] for number in random.sample(range(planes), min(2, planes))}
        written = random.randrange(planes)
        g.add_node(opaque(nothing, reads=reads, writes={f"p{written}": arrays[written]}, name=random.choice("abc")))
    picture = fold(read(g))
    place = {box.key: number for number, row in enumerate(picture.rows) for box in row.boxes}
    assert sorted(label for box in boxes_of(picture.rows) for label in box.members) == sorted(g.node_labels())
    assert all(place[link.src] < place[link.dst] for link in picture.links)
    assert len(place) <= 64


# a part ---------------------------------------------------------------------------------------------------------------


def test_around_shows_the_nodes_so_many_links_away() -> None:
    text = shown(in_place(100), around="scale_50", depth=1)
    for label in ("scale_49", "scale_50", "scale_51"):
        assert label in text
    assert "scale_48" not in text
    assert "shown: 3 around scale_50, 1 link deep" in text


def test_around_several_nodes_shows_the_parts_around_each() -> None:
    text = shown(in_place(100), around=["scale_10", "scale_90"], depth=0)
    assert "scale_10 " in text
    assert "scale_90 " in text
    assert "scale_11" not in text


def test_every_picture_can_show_a_part() -> None:
    g = in_place(100)
    for text in (g.to_svg(around="scale_50"), g.to_mermaid(around="scale_50"), g.to_dot(around="scale_50")):
        assert "scale_52" in text
        assert "scale_53" not in text
    assert g.plot(around="scale_50").axes


def test_around_an_unknown_node_is_refused_with_a_suggestion() -> None:
    with pytest.raises(eagle.GraphError, match=r"no node 'scale_500'.*Did you mean 'scale_50'"):
        in_place(100).show(around="scale_500")


@pytest.mark.parametrize("depth", [-1, "two"])
def test_a_depth_that_is_none_is_refused(depth: Any) -> None:
    with pytest.raises(eagle.GraphError, match="depth is"):
        in_place(3).show(around="scale", depth=depth)
