"""Graphs as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from picture_graphs import graphs, nothing

import eagle
from eagle.draw.names import UNICODE
from eagle.graph import opaque

SVG = "{http://www.w3.org/2000/svg}"


def small() -> eagle.Graph:
    x, y = np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(opaque(nothing, reads={"x": x}, writes={"y": y}), name="double")
    return g.add_node(opaque(nothing, reads={"y": y}, writes={"x": x}), name="shift")


def tooltips(text: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(text).iter(f"{SVG}title")]


@pytest.mark.property
@given(graphs(most=5))
def test_every_graph_is_well_formed_and_names_every_node(g: eagle.Graph) -> None:
    text = g.to_svg()
    ElementTree.fromstring(text.encode())
    said = " ".join(tooltips(text))
    for label in g.node_labels():
        assert UNICODE.spell(label)[:4] in said


def test_it_needs_nothing_else() -> None:
    text = small().to_svg()
    root = ElementTree.fromstring(text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert not [element for element in root.iter() if element.tag.rpartition("}")[2] in ("script", "image", "use")]


def test_it_has_a_title_for_screen_readers_and_selectable_text() -> None:
    root = ElementTree.fromstring(small().to_svg())
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == "eagle graph: 2 nodes, not built"
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == title.get("id")
    assert {"double", "shift", "y, x (WAR)"} <= {text.text for text in root.iter(f"{SVG}text")}


def test_it_has_colours_for_light_pages_and_dark_ones() -> None:
    assert "prefers-color-scheme: dark" in small().to_svg()


def test_two_pictures_on_one_page_do_not_share_their_styles() -> None:
    one = ElementTree.fromstring(small().to_svg()).get("class")
    assert one != ElementTree.fromstring(eagle.Graph().to_svg()).get("class")


def test_a_node_tells_kind_planes_stage_schedule_and_time_when_pointed_at() -> None:
    (said,) = [
        tip for tip in tooltips(small().build().to_svg(seconds={"double": 0.00125})) if tip.startswith("double\n")
    ]
    assert said.splitlines() == [
        "double",
        "kind: opaque",
        "reads: x",
        "writes: y",
        "stage 0 work_share",
        "time: 1250 µs",
    ]


def test_an_edge_tells_kind_plane_and_meaning_when_pointed_at() -> None:
    said = [tip.splitlines() for tip in tooltips(small().to_svg()) if "→" in tip]
    assert said == [["double → shift", "RAW y: data flows", "WAR x: must wait to overwrite"]]


def test_a_notebook_gets_svg_and_text() -> None:
    g = small()
    bundle = g._repr_mimebundle_()
    assert bundle == {"text/plain": str(g), "image/svg+xml": g._repr_svg_()}
    assert set(g._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(g._repr_mimebundle_(exclude={"text/plain"})) == {"image/svg+xml"}


def test_it_is_written_to_a_path(tmp_path: Path) -> None:
    text = small().to_svg(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == text


def test_it_is_the_same_every_time() -> None:
    g: Any = small()
    assert g.to_svg() == g.to_svg()


def test_an_empty_graph_is_a_picture_too() -> None:
    ElementTree.fromstring(eagle.Graph().to_svg())
