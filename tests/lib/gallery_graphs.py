"""The graphs of the gallery, each small enough to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import eagle
from eagle.graph import Body, Node, NodeKind, child, opaque
from eagle.plugin import register

register(
    NodeKind(
        name="gallery.choice",
        access=lambda node: (),
        bodies=lambda node: [Body(title=title, nodes=nodes) for title, nodes in node.payload],
    )
)


def nothing() -> None:
    """Do nothing."""


class Planes(dict[str, Any]):
    """Arrays by name, made when first asked for."""

    def __missing__(self, name: str) -> Any:
        self[name] = np.ones(1)
        return self[name]

    def node(self, name: str | None, reads: str = "", writes: str = "", **how: Any) -> Node[Any]:
        return opaque(
            nothing,
            reads={plane: self[plane] for plane in reads.split()},
            writes={plane: self[plane] for plane in writes.split()},
            name=name,
            **how,
        )

    def guard(self, name: str) -> eagle.SkipGuard:
        return eagle.SkipGuard.nonzero(self[name])


def the_pages() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("seed", "", "x"))
    g.add_group([p.node("left", "x", "left_out"), p.node("right", "x", "right_out")])
    return g.add_node(eagle.skippable(p.node(None, "left_out right_out", "z"), p.guard("flag")), name="combine").build()


def two_steps() -> eagle.Graph:
    p = Planes()
    return eagle.Graph().add_node(p.node("double", "x", "y")).add_node(p.node("shift", "y", "z"))


def tiers() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("model", "x", "y", stream=7)).add_node(p.node("log", "y", "", eager=True))
    g.add_node(child(object(), reads=p["y"], writes=p["z"], name="net"))
    return g.add_node(eagle.reduce(p["z"], np.zeros(1), name="total"))


def hazards() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("load", "", "raw")).add_node(p.node("filter", "raw", "clean"))
    g.add_node(p.node("stats", "raw", "mean spread")).add_node(p.node("draw", "clean mean", "image"))
    return g.add_node(p.node("report", "spread image", "page")).add_node(p.node("reset", "", "raw"))


def branches() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("seed", "", "x y"))
    left = [p.node("advance", "x", "u"), p.node("limit", "u y", "v")]
    right = [p.node("source", "y", "w"), p.node("damp", "w", "q")]
    g.add_group([left, right, p.node("trace", "x", "t")], names=["transport", "reaction", "trace"])
    return g.add_node(p.node("join", "v q t", "out"))


def loop() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("init", "", "x flag"))
    body = (p.node("kick", "a v", "v"), p.node("drift", "v x", "x"), p.node("force", "x", "a"))
    g.add_node(eagle.repeat_while(body, p.guard("flag"), 100), name="leapfrog")
    return g.add_node(p.node("measure", "x", "energy"))


def nested() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    inner = eagle.repeat_while(p.node(None, "x", "x"), p.guard("rough"), 20)
    g.add_node(p.node("guess", "", "x rough"))
    return g.add_node(eagle.skippable(inner, p.guard("wanted")), name="refine").add_node(p.node("use", "x", "y"))


def choice() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    ways = [("then", (p.node("near", "x", "y"), p.node("sum", "y", "z"))), ("else", (p.node("far", "x", "z"),))]
    return g.add_node(p.node("split", "", "x")).add_node(Node("gallery.choice", ways), name="choose")


def wide() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("scatter", "", "x"))
    g.add_group([p.node(f"worker {name}", "x", f"out_{name}") for name in "abcdefgh"])
    return g.add_node(p.node("gather", " ".join(f"out_{name}" for name in "abcdefgh"), "y"))


def repeated() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    for _ in range(128):
        g.add_node(p.node("scale", "x", "x"))
    return g


def pattern() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("init", "", "x v a"))
    for _ in range(50):
        for name, reads, writes in (("kick", "a v", "v"), ("drift", "v x", "x"), ("force", "x", "a")):
            g.add_node(p.node(name, reads, writes))
    return g.add_node(p.node("measure", "x v", "energy"))


def alike() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node("scatter", "", "x"))
    g.add_group([p.node(f"worker{number}", "x", f"out{number}") for number in range(200)])
    return g.add_node(p.node("gather", " ".join(f"out{number}" for number in range(200)), "y"))


def names() -> eagle.Graph:
    p, g = Planes(), eagle.Graph()
    g.add_node(p.node('two\nlines & "quotes"', "", "\u884c\u5217"))
    return g.add_node(
        p.node("e\u0301cart | $x_1$ | <b> | `code` | \u05e9\u05dc\u05d5\u05dd", "\u884c\u5217", "\x1b[31m")
    )


GALLERY: dict[str, Callable[[], eagle.Graph]] = {
    "The specification's example, built": the_pages,
    "Two steps, not built yet": two_steps,
    "The tiers of the user's own code, and a reduction": tiers,
    "What flows, and what only waits": hazards,
    "Branches of several nodes": branches,
    "A loop": loop,
    "Conditionals inside each other": nested,
    "A node with two bodies": choice,
    "A stage too wide for the terminal": wide,
    "The same node, often": repeated,
    "A pattern, often": pattern,
    "Alike branches, many": alike,
    "Names as they come": names,
}
