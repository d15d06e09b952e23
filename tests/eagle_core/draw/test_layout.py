"""What holds of every layout: whatever the graph, its names, and the width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_graphs import graphs

import eagle
from eagle.draw.layout import Layout, Options, Point, Rect, Route, layout
from eagle.draw.names import ASCII, UNICODE, width
from eagle.draw.picture import Picture, all_boxes
from eagle.draw.reading import read

widths = st.integers(20, 200)


def laid_out(g: eagle.Graph, columns: int) -> tuple[Picture, Layout]:
    picture = read(g)
    return picture, layout(picture, Options(max_width=columns))


def cells(route: Route) -> Iterator[Point]:
    """Every cell of a route, in order."""
    yield route.points[0]
    for (x, y), (to_x, to_y) in pairwise(route.points):
        across = 1 if to_x > x else -1
        yield from (Point(x + across * step, y) for step in range(1, abs(to_x - x) + 1))
        yield from (Point(to_x, y + step) for step in range(1, to_y - y + 1))


def overlap(one: Rect, other: Rect) -> bool:
    return one.x <= other.right and other.x <= one.right and one.y <= other.bottom and other.y <= one.bottom


def holds(outer: Rect, inner: Rect) -> bool:
    return outer.x < inner.x and inner.right < outer.right and outer.y < inner.y and inner.bottom < outer.bottom


def has(rect: Rect, point: Point) -> bool:
    return rect.x <= point.x <= rect.right and rect.y <= point.y <= rect.bottom


@pytest.mark.property
@given(graphs(), widths)
def test_every_node_appears_no_boxes_overlap_and_frames_nest(g: eagle.Graph, columns: int) -> None:
    picture, laid = laid_out(g, columns)
    drawn = {placed.box.key for placed in laid.boxes}
    for box in all_boxes(picture.rows):
        assert any(key[: len(box.key)] == box.key[: len(key)] for key in drawn)  # itself, what it holds, or its holder
    assert {key[0] for key in drawn} == set(range(g.num_nodes()))
    boxes = [placed.rect for placed in laid.boxes]
    frames = [frame.rect for frame in laid.frames if frame.kind != "group"]
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    for one, other in combinations(frames, 2):
        assert not overlap(one, other) or holds(one, other) or holds(other, one)
    for frame in frames:
        assert all(not overlap(frame, box) or holds(frame, box) for box in boxes)


@pytest.mark.property
@given(graphs(), widths)
def test_every_edge_is_drawn_forward_past_every_box_or_told(g: eagle.Graph, columns: int) -> None:
    _, laid = laid_out(g, columns)
    top = [(link.src[0], link.dst[0]) for link in (*(r.link for r in laid.routes), *laid.after) if len(link.src) == 1]
    assert Counter(top) == Counter({(edge.src, edge.dst) for edge in g.edges(reduced=True)})
    rects = [placed.rect for placed in laid.boxes]
    borders = [*rects, *(frame.rect for frame in laid.frames)]
    for route in laid.routes:
        assert all(above.y <= below.y for above, below in pairwise(route.points))
        assert route.points[0].y < route.points[-1].y
        first, *between, last = cells(route)
        assert any(first.y == rect.bottom and rect.x < first.x < rect.right for rect in borders)
        assert any(last.y == rect.y and rect.x < last.x < rect.right for rect in borders)
        assert not [(point, rect) for point in between for rect in rects if has(rect, point)]


@pytest.mark.property
@given(graphs(), widths)
def test_a_wire_joins_only_what_is_linked_and_meets_others_only_at_a_common_end(g: eagle.Graph, columns: int) -> None:
    _, laid = laid_out(g, columns)
    users: dict[tuple[Point, Point], list[Route]] = {}
    wires: dict[int, list[Route]] = {}
    for route in laid.routes:
        wires.setdefault(route.wire, []).append(route)
        for step in pairwise(cells(route)):
            users.setdefault(step, []).append(route)
    for routes in wires.values():
        links = {(route.link.src, route.link.dst) for route in routes}
        assert links == {(src, dst) for src, _ in links for _, dst in links}
        assert len({route.link.kind for route in routes}) == 1
    for (one, other), routes in users.items():
        for a, b in combinations(routes, 2):
            assert a.wire == b.wire or (one.x == other.x and a.points[-1] == b.points[-1])


@pytest.mark.property
@given(graphs(), widths, st.booleans())
def test_words_fit_overlap_nothing_and_are_cut_only_with_an_ellipsis(
    g: eagle.Graph, columns: int, ascii_only: bool
) -> None:
    letters = ASCII if ascii_only else UNICODE
    picture, options = read(g), Options(max_width=columns, lettering=letters)
    laid = layout(picture, options)
    assert laid == layout(picture, options)
    assert laid.width <= columns
    rects = [placed.rect for placed in laid.boxes]
    taken = [Rect(name.at.x, name.at.y, width(name.text), 1) for name in laid.names if name.text]
    assert not [pair for pair in combinations(taken, 2) if overlap(*pair)]
    assert not [(name, rect) for name in taken for rect in rects if overlap(name, rect)]
    for route in laid.routes:
        own = route.points[0]
        for point in cells(route):
            assert not [name for name in taken if has(name, point) and (name.x, name.y) != (own.x, own.y + 1)]
    for placed in laid.boxes:
        assert all(width(line) <= placed.rect.width - 2 for line in placed.lines)
        assert letters.spell(placed.box.label) in placed.lines[0] or letters.ellipsis in placed.lines[0]
    assert all(name.text == name.full or name.text.endswith(letters.ellipsis) for name in laid.names)
    assert all(width(frame.title) <= frame.rect.width - 2 for frame in laid.frames)
