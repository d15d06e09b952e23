"""Random graphs to look at: any shape, any name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import eagle
from eagle.graph import Access, Body, Node, NodeKind, child, opaque
from eagle.plugin import register

HOSTILE = (
    "two\nlines",
    'say "hi"',
    "a < b > c & d",
    "# $x_1$ | `code` \\n \\ back",
    "\x00\x1b[31m\x7f\u200b\u202e",
    "e\u0301 n\u0303",
    "\u0301leading",
    "\U0001f680\U0001f469\u200d\U0001f52c\u2764\ufe0f",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u884c\u5217\u306e\u7a4d",
    "lone \ud800 surrogate",
    "end",
    "<script>alert(1)</script>",
    "&amp; &lt;",
    "%% ;{}[]()-->",
    "\ufffe\uffff",
    " padded  twice ",
    "x" * 500,
)
names = st.one_of(
    st.sampled_from(HOSTILE),
    st.sampled_from(["a", "kick", "position", "left_out"]),
    st.text(st.characters(), min_size=1, max_size=12),
)


def nothing() -> None:
    """Do nothing."""


def in_order(node: Node[Any]) -> Iterable[Access]:
    reads, writes, _ = node.payload
    yield from (Access(name=name, array=array, mode="r") for name, array in reads.items())
    yield from (Access(name=name, array=array, mode="w") for name, array in writes.items())


register(
    NodeKind(
        name="picture.two bodies",
        access=in_order,
        bodies=lambda node: [Body(title=title, nodes=nodes) for title, nodes in node.payload[2]],
        complete_access=True,
    )
)


class Maker:
    """Draws nodes over a few named arrays."""

    def __init__(self, draw: st.DrawFn, planes: int = 6) -> None:
        self.draw = draw
        unique = draw(st.lists(names, min_size=planes, max_size=planes, unique=True))
        self.planes = [(name, np.zeros(1)) for name in unique]
        self.on = eagle.SkipGuard.nonzero(np.ones(1))

    def some(self, most: int = 3) -> dict[str, Any]:
        chosen = self.draw(st.lists(st.sampled_from(range(len(self.planes))), max_size=most, unique=True))
        return dict(self.planes[number] for number in chosen)

    def node(self, depth: int = 2) -> Node[Any]:
        name = self.draw(st.none() | names)
        shape = self.draw(st.sampled_from(["opaque", "opaque", "plain", "tier", "child", "skip", "loop", "bodies"]))
        if depth == 0 or shape == "opaque":
            return opaque(nothing, reads=self.some(), writes=self.some(2), name=name)
        if shape == "tier":
            eager = self.draw(st.booleans())
            return opaque(nothing, reads=self.some(1), stream=None if eager else 1, eager=eager, name=name)
        if shape == "child":
            return child(object(), reads=self.some(1), name=name)
        parts = self.parts(depth)
        if shape == "skip":
            return eagle.skippable(parts, self.on, name=name)
        if shape == "loop":
            return eagle.repeat_while(parts, self.on, self.draw(st.none() | st.integers(1, 10**6)), name=name)
        bodies = [(self.draw(names), parts), (self.draw(names), self.parts(depth))] if shape == "bodies" else []
        return Node("picture.two bodies", (self.some(), self.some(2), bodies), name)

    def parts(self, depth: int) -> tuple[Node[Any], ...]:
        return tuple(self.node(depth - 1) for _ in range(self.draw(st.integers(1, 2))))


@st.composite
def graphs(draw: st.DrawFn, most: int = 6) -> eagle.Graph:
    """A graph of up to `most` stages, not built, in which branches may race."""
    maker = Maker(draw)
    g = eagle.Graph()
    for _ in range(draw(st.integers(0, most))):
        branches = draw(st.integers(1, 4))
        if branches < 3:
            g.add_node(maker.node(), name=draw(st.none() | names))
        else:
            g.add_group(
                [[maker.node(1) for _ in range(draw(st.integers(1, 3)))] for _ in range(branches)],
                names=draw(st.none() | st.lists(names, min_size=branches, max_size=branches)),
            )
    return g
