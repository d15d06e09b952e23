"""Graphs as text: the specification's picture, widths, streams and names."""

from __future__ import annotations

import io
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_graphs import HOSTILE, graphs, nothing

import eagle
from eagle.draw.names import width
from eagle.graph import opaque

PAGE = """\
eagle.Graph  4 nodes · 1 group · backend: cpu

  stage 0 work_share       ┌╌╌╌╌╌╌╌┐
                           ╎ seed  ╎
                           └╌╌╌┬╌╌╌┘
                               x
                         ┌─────┴─────┐
  stage 1 work_share ┌╌╌╌┴╌╌╌┐   ┌╌╌╌┴╌╌╌┐
                     ╎ left  ╎   ╎ right ╎
                     └╌╌╌┬╌╌╌┘   └╌╌╌┬╌╌╌┘
                         left_out    right…
                         └─────┬─────┘
                      ╭─ skip if guard ─╮
  stage 2 work_share  │ ┌╌╌╌╌╌╌┴╌╌╌╌╌╌┐ │
                      │ ╎   combine   ╎ │
                      │ └╌╌╌╌╌╌╌╌╌╌╌╌╌┘ │
                      ╰─────────────────╯"""

ASCII_PAGE = """\
eagle.Graph  4 nodes | 1 group | not built

  stage 0       +.......+
                : seed  :
                +...+...+
                    x
              +-----+-----+
  stage 1 +...+...+   +...+...+
          : left  :   : right :
          +...+...+   +...+...+
              left_out    rig...
              +-----+-----+
           .- skip if guard -.
  stage 2  | +......+......+ |
           | :   combine   : |
           | +.............+ |
           '-----------------'
"""


def the_pages_graph(writes: dict[str, Any] | None = None) -> eagle.Graph:
    x, left, right, flag = (np.zeros(8) for _ in range(4))
    g = eagle.Graph()
    g.add_node(opaque(nothing, writes={"x": x}), name="seed")
    g.add_group(
        [
            opaque(nothing, reads={"x": x}, writes={"left_out": left}),
            opaque(nothing, reads={"x": x}, writes={"right_out": right}),
        ],
        names=["left", "right"],
    )
    combine = opaque(nothing, reads={"left": left, "right": right}, writes=writes)
    return g.add_node(eagle.skippable(combine, eagle.SkipGuard.nonzero(flag)), name="combine")


def shown(g: eagle.Graph, **how: Any) -> str:
    stream = io.StringIO()
    g.show(file=stream, **how)
    return stream.getvalue()


def in_encoding(g: eagle.Graph, encoding: str, **how: Any) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="\n")
    g.show(file=stream, **how)
    stream.flush()
    return raw.getvalue().decode(encoding)


# the picture ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("writes", [None, {"z": np.zeros(8)}])
def test_the_pages_example_gives_the_pages_picture(writes: dict[str, Any] | None) -> None:
    g = the_pages_graph(writes).build()
    assert str(g) == PAGE
    assert shown(g) == PAGE + "\n"


def test_print_and_show_write_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    g = the_pages_graph().build()
    print(g)
    printed = capsys.readouterr().out
    g.show()
    assert printed == capsys.readouterr().out == PAGE + "\n"


def test_a_graph_that_is_not_built_says_so_and_shows_no_schedule() -> None:
    text = str(the_pages_graph())
    assert text.startswith("eagle.Graph  4 nodes · 1 group · not built\n")
    assert "stage 1 ┌" in text
    assert "work_share" not in text


def test_an_empty_graph_is_its_header() -> None:
    assert str(eagle.Graph()) == "eagle.Graph  0 nodes · not built"


def test_only_an_opaque_node_has_a_dashed_border() -> None:
    x, y = np.zeros(2), np.zeros(2)
    text = str(eagle.Graph().add_node(opaque(nothing, writes={"x": x}), name="a").add_node(eagle.copy(x, into=y)))
    assert "╎   a   ╎" in text
    assert "│ copy  │" in text


def test_what_only_waits_is_dotted_and_explained() -> None:
    x, y = np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(opaque(nothing, reads={"x": x}, writes={"y": y}), name="a")
    text = str(g.add_node(opaque(nothing, writes={"x": x, "y": y}), name="b"))
    assert "x (WAR), y (WAW)" in text
    assert "┄┄┄ no data flows: WAR must wait to overwrite, WAW same output" in text


def test_planes_that_go_different_ways_leave_side_by_side() -> None:
    x, y = np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(opaque(nothing, writes={"x": x, "y": y}), name="a")
    g.add_group([opaque(nothing, reads={"x": x}), opaque(nothing, reads={"y": y})], names=["b", "c"])
    assert "└╌╌┬╌╌┬╌┘\n" in str(g)
    assert "x  y\n" in str(g)


def test_a_branch_of_several_nodes_is_a_frame_with_its_title() -> None:
    x, y = np.zeros(2), np.zeros(2)
    a, b, c = (
        opaque(nothing, writes={"x": x}, name="a"),
        opaque(nothing, reads={"x": x}, name="b"),
        eagle.copy(y, into=y + 1),
    )
    text = str(eagle.Graph().add_group([[a, b], [c]], names=["left", "right"]))
    assert "╭── left ───╮" in text
    assert "│ ╎   a   ╎ │" in text
    assert "right" in text


def test_nested_conditionals_are_nested_frames_and_a_loop_says_its_limit() -> None:
    on = eagle.SkipGuard.nonzero(np.ones(1))
    inner = eagle.repeat_while(opaque(nothing), on, 7)
    text = str(eagle.Graph().add_node(eagle.skippable(inner, on), name="refine"))
    assert "skip if guard ──" in text
    assert "│ ╭─ repeat ≤ 7 ──╮ │" in text
    assert "╎  refine   ╎" in text


def test_names_go_to_frames_where_what_they_hold_has_a_name_of_its_own() -> None:
    on = eagle.SkipGuard.nonzero(np.ones(1))
    text = str(eagle.Graph().add_node(eagle.skippable(opaque(nothing, name="inner"), on), name="outer"))
    assert "outer: skip if guard" in text
    assert "inner" in text


# widths ---------------------------------------------------------------------------------------------------------------


@pytest.mark.property
@given(graphs(), st.integers(20, 200))
def test_no_line_is_wider_than_asked_and_every_line_is_printable(g: eagle.Graph, columns: int) -> None:
    text = shown(g, width=columns)
    assert all(width(line) <= columns for line in text.splitlines())
    assert text.replace("\n", "").replace("\u0301", "").isprintable()
    text.encode()


def test_the_width_follows_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(2)
    g = eagle.Graph().add_node(opaque(nothing, writes={"x": x}))
    g.add_group([opaque(nothing, reads={"x": x}, name="branch") for _ in range(8)])
    widest = {}
    for columns in (40, 80, 160):
        monkeypatch.setenv("COLUMNS", str(columns))
        widest[columns] = max(map(width, str(g).splitlines()))
    assert all(widest[columns] <= columns for columns in widest)
    assert all(widest[less] < widest[more] for less, more in pairwise(widest))


def test_at_width_20_every_node_of_the_page_is_still_there() -> None:
    text = shown(the_pages_graph().build(), width=20)
    for label in ("seed", "left", "right", "comb"):
        assert label in text


def test_width_below_20_is_20() -> None:
    g = the_pages_graph()
    assert shown(g, width=3) == shown(g, width=20)


# streams --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_stream_without_lines_gets_plain_characters(encoding: str) -> None:
    assert in_encoding(the_pages_graph(), encoding).replace(" · ", " | ") == ASCII_PAGE


def test_letters_a_stream_can_hold_are_kept_and_others_escaped() -> None:
    g = eagle.Graph().add_node(opaque(nothing), name="é行")
    assert "é\\u884c" in in_encoding(g, "cp1252")
    assert "\\xe9\\u884c" in in_encoding(g, "ascii")
    assert "é行" in in_encoding(g, "utf-8")


@pytest.mark.property
@given(graphs(most=3), st.sampled_from(["ascii", "cp1252", "cp437", "utf-8", "utf-16"]), st.integers(20, 90))
def test_every_graph_can_be_shown_on_every_stream(g: eagle.Graph, encoding: str, columns: int) -> None:
    assert all(width(line) <= columns for line in in_encoding(g, encoding, width=columns).splitlines())


def test_str_is_what_standard_output_can_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert str(the_pages_graph()).isascii()


# names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_any_name_is_drawn_in_a_box_that_fits_it(name: str) -> None:
    x = np.zeros(1)
    g = eagle.Graph().add_node(opaque(nothing, writes={name: x}), name=name).add_node(opaque(nothing, reads={name: x}))
    lines = [line for line in str(g).splitlines() if "╌" in line or "╎" in line]
    assert len(lines) == 6
    assert width(lines[0]) == width(lines[1].replace("\u200d", "")) == width(lines[2])


def test_a_newline_a_control_character_and_a_lone_surrogate_are_escaped() -> None:
    text = str(eagle.Graph().add_node(opaque(nothing), name="a\nb\x1b\ud800"))
    assert "a\\nb\\x1b\\ud800" in text


def test_a_long_name_is_cut_with_an_ellipsis() -> None:
    text = str(eagle.Graph().add_node(opaque(nothing), name="x" * 500))
    assert "xxx…  ╎" in text
    assert "x" * 60 not in text


def test_conditionals_50_deep_are_told_where_they_cannot_be_drawn() -> None:
    on = eagle.SkipGuard.nonzero(np.ones(1))
    step: Any = opaque(nothing)
    for _ in range(50):
        step = eagle.skippable(step, on)
    g = eagle.Graph().add_node(step, name="deep")
    for columns in (20, 80, 300):
        text = shown(g, width=columns)
        assert max(map(width, text.splitlines())) <= columns
        assert "deep" in text
    assert "[44 deep: skip if guard]" in shown(g, width=80)
