"""``eagle demo``."""

from __future__ import annotations

import numpy as np

import eagle
from eagle.graph import opaque

__all__ = ["demonstrate"]


def demonstrate() -> int:
    """Build a graph of two nodes, print it, launch it, print the arrays. Returns 1 when nothing can run it."""
    x, y, z = np.zeros(8), np.zeros(8), np.zeros(8)

    graph = eagle.Graph()
    graph.add_node(opaque(lambda: np.multiply(x, 2.0, out=y), reads={"x": x}, writes={"y": y}), name="double")
    graph.add_node(opaque(lambda: np.add(y, 1.0, out=z), reads={"y": y}, writes={"z": z}), name="shift")
    try:
        graph.build()
    except eagle.BackendUnavailable as error:
        print(graph)
        print(f"\nThe graph is sound, and cannot run: {error}")
        return 1
    print(graph)
    x[:] = np.arange(8)  # the graph runs over these very arrays
    graph.launch()
    print(f"\nx = {x}\ny = {y}\nz = {z}")
    return 0
