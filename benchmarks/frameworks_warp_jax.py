"""What a node of Warp or JAX costs on the CPU, over a bare call of the framework that does the same.

Each figure is the median over rounds in which both sides take turns, beside the bar it has to meet. The nodes are run
by ``launch(1000)``, so that what is measured is the node, not the launch. It needs the dependency group ``frameworks``.

Run it on an otherwise idle machine: ``python -m benchmarks.frameworks_warp_jax``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import warp as wp
from benchmarks.graph_costs import Figure, calls, difference, time_in_words

import eagle
from eagle.frameworks import jax as eagle_jax
from eagle.frameworks import warp as eagle_warp

REPETITIONS = 1000
SAMPLES = 8


@wp.kernel
def scale(x: wp.array(dtype=wp.float64), by: wp.float64, y: wp.array(dtype=wp.float64)) -> None:
    i = wp.tid()
    y[i] = by * x[i]


def warp_arms() -> Iterator[tuple[str, Callable[[], object], eagle.Graph]]:
    wp.config.quiet = True
    x, y = (wp.ones(SAMPLES, dtype=wp.float64, device="cpu") for _ in range(2))
    a, b = np.ones(SAMPLES), np.ones(SAMPLES)
    recorded = wp.launch(scale, SAMPLES, inputs=[x, 2.0], outputs=[y], device="cpu", record_cmd=True)

    def bare() -> None:
        wp.launch(scale, SAMPLES, inputs=[x, 2.0], outputs=[y], device="cpu")

    over_warps = eagle.Graph().add_node(eagle_warp.launch(scale, SAMPLES, [x, 2.0], [y])).build()
    over_numpys = eagle.Graph().add_node(eagle_warp.launch(scale, SAMPLES, [a, 2.0], [b])).build()
    yield "Warp kernel, over wp.launch", bare, over_warps
    yield "Warp kernel, over a recorded launch", recorded.launch, over_warps
    yield "Warp kernel on NumPy arrays, over a recorded launch", recorded.launch, over_numpys


def jax_arms() -> Iterator[tuple[str, Callable[[], object], eagle.Graph]]:
    def double(x: Any) -> dict[str, Any]:
        return {"y": 2 * x}

    x, y = np.ones(SAMPLES, np.float32), np.ones(SAMPLES, np.float32)
    jitted = jax.jit(double)

    def bare() -> None:
        np.copyto(y, np.asarray(jitted(x)["y"]))

    narrow = eagle.Graph().add_node(eagle_jax.node(double, {"x": x}, {"y": y})).build()
    yield "JAX function, over the jitted one and a copy", bare, narrow

    wide_x, wide_y = np.ones(SAMPLES), np.ones(SAMPLES)

    def bare_wide() -> None:
        with jax.enable_x64(True):
            np.copyto(wide_y, np.asarray(jitted(wide_x)["y"]))

    wide = eagle.Graph().add_node(eagle_jax.node(double, {"x": wide_x}, {"y": wide_y})).build()
    yield "JAX function of float64, over the same in JAX's 64-bit mode", bare_wide, wide


def figures() -> Iterator[Figure]:
    """Measure everything."""
    for arms in (warp_arms(), jax_arms()):
        for what, bare, graph in arms:
            bare(), graph.launch()
            over, ratio = difference(calls(bare, REPETITIONS), lambda g=graph: g.launch(REPETITIONS))  # type: ignore[misc]
            yield Figure(what, over / REPETITIONS, ratio, "at most 1 us")


def main() -> None:
    for figure in figures():
        print(f"{figure.what:<62} {time_in_words(figure.seconds):>10}  x{figure.ratio:<6.2f} {figure.bar}")


if __name__ == "__main__":
    main()
