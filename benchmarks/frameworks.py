"""What a node of a framework costs on the CPU beyond a bare call of the framework: ``make bench``.

Both do the same work: the call, in inference mode for a module, and its result copied into the plane. Each figure is a
median over rounds in which the two take turns, so that what the machine does besides falls on both.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator

import eagle
from eagle.graph import opaque

ROUNDS = 21
CALLS = 800
NODES = 8
BAR = 1e-6  # seconds a node
Pair = tuple[str, Callable[[], object], eagle.Graph]


def seconds(run: Callable[[], object], calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def compared(bare: Callable[[], object], graph: eagle.Graph) -> tuple[float, float]:
    """Return seconds of one bare call, and how much longer a node of a graph of `NODES` takes."""
    bare_s, extra = [], []
    for _ in range(ROUNDS):
        alone, inside = seconds(bare, CALLS), seconds(graph.launch, CALLS // NODES) / NODES
        bare_s.append(alone)
        extra.append(inside - alone)
    return statistics.median(bare_s), statistics.median(extra)


def torch_pairs() -> Iterator[Pair]:
    """Yield what torch runs: an operation into a tensor, and a module."""
    import torch

    from eagle.frameworks.torch import module

    torch.set_num_threads(1)
    x, y = torch.ones(8), torch.zeros(8)

    def operation() -> None:
        torch.mul(x, 2.0, out=y)

    yield "torch.mul(out=) in an opaque", operation, of(lambda: opaque(operation, reads={"x": x}, writes={"y": y}))
    model = torch.nn.Linear(8, 8).eval()

    def call() -> None:
        with torch.inference_mode():
            y.copy_(model(x))

    yield "torch.nn.Linear(8, 8) as a module", call, of(lambda: module(model, {"x": x}, {"y": y}))


def of(make: Callable[[], object]) -> eagle.Graph:
    """Return a graph of `NODES` nodes, built."""
    g = eagle.Graph()
    for _ in range(NODES):
        g.add_node(make())  # type: ignore[arg-type]
    return g.build()


def main() -> None:
    """Measure the frameworks that are installed."""
    for needs, pairs in (("torch", torch_pairs),):
        if importlib.util.find_spec(needs) is None:
            print(f"{needs} is not installed: make test-all installs it, or pip install --group frameworks")
            continue
        for what, bare, graph in pairs():
            call, extra = compared(bare, graph)
            verdict = "met" if extra <= BAR else "MISSED"
            print(f"{what:<40}{call * 1e6:8.2f} us a call, {extra * 1e6:+6.2f} us in a graph   aim 1 us: {verdict}")


if __name__ == "__main__":
    main()
