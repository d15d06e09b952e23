"""What building and launching a CUDA graph costs the host, on the emulated device.

Each figure is processor time, the median over rounds, beside the bar it has to meet where there is one: ``make bench``.
"""

# ruff: noqa: E402 -- the emulated device is loaded before anything looks for a driver

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "lib"))
import cuda_emulator

DEVICE = cuda_emulator.load()

import cuda_devices
import cuda_frame
import numpy as np

import eagle
from eagle.graph import Node, opaque
from eagle.testing import registered

ROUNDS = 15
NODES = 64
BAR = 0.050


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def bumps(cuda: cuda_devices.CudaDevice, x: Any) -> list[Node[Any]]:
    """Return opaque nodes that each launch one kernel."""
    return [opaque(cuda.shift(x, 1.0, x), reads={"x": x}, writes={"x": x}) for _ in range(NODES)]


def chain(nodes: list[Node[Any]]) -> eagle.Graph:
    g = eagle.Graph()
    for node in nodes:
        g.add_node(node)
    return g


def branches(nodes: list[Node[Any]]) -> eagle.Graph:
    return eagle.Graph().add_group([nodes[: NODES // 2], nodes[NODES // 2 :]])


def loops(cuda: cuda_devices.CudaDevice, nodes: list[Node[Any]]) -> eagle.Graph:
    on = cuda.array([0], np.int32)
    return chain([eagle.repeat_while(node, eagle.SkipGuard.nonzero(on), 2) for node in nodes])


def show(what: str, found: list[float], bar: float | None = None) -> None:
    value = statistics.median(found)
    verdict = "" if bar is None else f"   bar {bar * 1e3:.0f} ms: {'met' if value <= bar else 'MISSED'}"
    print(f"{what:<52}{value * 1e3:10.3f} ms{verdict}")


def main() -> None:
    cuda = cuda_devices.CudaDevice()
    with registered(cuda_frame):
        nodes = bumps(cuda, cuda.array([0.0]))
        apart = [bumps(cuda, cuda.array([0.0]))[index] for index in range(NODES)]
        cases: list[tuple[str, Callable[[], eagle.Graph]]] = [
            ("a chain of opaque nodes", lambda: chain(nodes)),
            ("a group of two branches", lambda: branches(apart)),
            ("a chain of loops", lambda: loops(cuda, nodes)),
        ]
        for what, make in cases:
            graphs = [make() for _ in range(ROUNDS)]
            show(f"build {what}, {NODES}", [seconds(g.build) for g in graphs], BAR)
        g = chain(nodes).build()
        show(f"enqueue {NODES} nodes, once", [seconds(g.enqueue) for _ in range(ROUNDS)])
        show("each further repetition", [seconds(partial(g.enqueue, 101)) / 101 for _ in range(ROUNDS)])
        DEVICE.reset()


if __name__ == "__main__":
    main()
