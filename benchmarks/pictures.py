"""What pictures cost: seconds of the processor, the least of three, and sizes of every format, for several graphs.

Run it on an otherwise idle machine: ``python benchmarks/pictures.py``.
"""

from __future__ import annotations

import io
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import eagle
from eagle.graph import opaque

ROUNDS = 3


def nothing() -> None:
    """Do nothing."""


class Planes(dict[str, Any]):
    """Arrays by name, made when first asked for."""

    def __missing__(self, name: str) -> Any:
        self[name] = np.zeros(1)
        return self[name]

    def node(self, name: str, reads: list[str], writes: list[str]) -> Any:
        """Return a node that reads and writes these."""
        return opaque(
            nothing, {plane: self[plane] for plane in reads}, {plane: self[plane] for plane in writes}, name=name
        )


def in_place() -> eagle.Graph:
    """100 nodes in place on one array."""
    planes, g = Planes(), eagle.Graph()
    for _ in range(100):
        g.add_node(planes.node("scale", ["x"], ["x"]))
    return g


def chain() -> eagle.Graph:
    """A chain of 1000 nodes."""
    planes, g = Planes(), eagle.Graph()
    for number in range(1000):
        g.add_node(planes.node(f"n{number}", [f"p{number}"], [f"p{number + 1}"]))
    return g


def fan_out() -> eagle.Graph:
    """One node, 200 that read what it writes, one that reads what they write."""
    planes, g = Planes(), eagle.Graph()
    g.add_node(planes.node("seed", [], ["x"]))
    g.add_group([planes.node(f"w{number}", ["x"], [f"o{number}"]) for number in range(200)])
    return g.add_node(planes.node("sum", [f"o{number}" for number in range(200)], ["y"]))


def at_random() -> eagle.Graph:
    """1000 nodes that read two and write one of 400 arrays at random."""
    draw, planes, g = random.Random(0), Planes(), eagle.Graph()
    for number in range(1000):
        reads = [f"p{draw.randrange(400)}" for _ in range(2)]
        g.add_node(planes.node(f"n{number}", reads, [f"p{draw.randrange(400)}"]))
    return g


def unlike() -> eagle.Graph:
    """60 nodes with nothing in common, as much as is ever drawn."""
    draw, planes, g = random.Random(1), Planes(), eagle.Graph()
    for number in range(60):
        name = "".join(draw.choice("abcdefgh") for _ in range(8))
        reads = [f"p{draw.randrange(25)}" for _ in range(2)]
        g.add_node(planes.node(name, reads, [f"q{number}", f"p{draw.randrange(25)}"]))
    return g


def png(g: eagle.Graph) -> bytes:
    """Return the graph as matplotlib saves it."""
    stream = io.BytesIO()
    g.plot().savefig(stream, format="png")
    return stream.getvalue()


FORMATS: dict[str, Callable[[eagle.Graph], str | bytes]] = {
    "text": str,
    "svg": eagle.Graph.to_svg,
    "mermaid": eagle.Graph.to_mermaid,
    "dot": eagle.Graph.to_dot,
    "png": png,
}


def main() -> None:
    """Print a row per graph: seconds and kilobytes of every format."""
    small = eagle.Graph().add_node(opaque(nothing))
    for make in FORMATS.values():
        make(small)  # what is imported with the first picture is not counted
    print(f"{'graph':12}" + "".join(f"{name:>20}" for name in FORMATS))
    for shape in (in_place, chain, fan_out, at_random, unlike):
        g = shape()
        cells = []
        for make in FORMATS.values():
            seconds = []
            for _ in range(ROUNDS):
                start = time.process_time()
                made = make(g)
                seconds.append(time.process_time() - start)
            size = len(made.encode() if isinstance(made, str) else made)
            cells.append(f"{min(seconds):9.3f} s {size / 1000:6.1f} kB")
        print(f"{shape.__name__:12}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main()
