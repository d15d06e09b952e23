"""Graphs of plans: launch overhead, chains, forks. The published eagle runs this program too, by the same interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from workloads import best, report

import eagle
import hawk
from hawk import Mutable, Scalar

# ruff: noqa: ANN201


@hawk.kernel
def affine(a: Scalar, x: Mutable[Scalar]):
    x = a * x + 1.0


@hawk.kernel
def damp(a: Scalar, x: Mutable[Scalar]):
    x = x - 0.25 * a * x


@hawk.kernel
def relax(a: Scalar, x: Mutable[Scalar]):
    x = x + 0.5 * (a - x)


@hawk.kernel
def square(a: Scalar, x: Mutable[Scalar]):
    x = a * x * x


@hawk.kernel
def root(a: Scalar, x: Mutable[Scalar]):
    x = (x * x + a) ** 0.5


@hawk.kernel
def invert(a: Scalar, x: Mutable[Scalar]):
    x = a / (1.0 + x * x)


@hawk.kernel
def clip(a: Scalar, x: Mutable[Scalar]):
    x = min(max(x, -a), a)


@hawk.kernel
def mix(a: Scalar, x: Mutable[Scalar]):
    x = 0.75 * x + 0.25 * a * a


def chain(kernels: list[Any], samples: int, nodes: int) -> tuple[Any, Any]:
    """Return a built graph of `nodes` plans over one array, and the array."""
    plans = [eagle.deploy(kernel) for kernel in kernels]
    x, a = np.zeros(samples), np.full(samples, 0.5)
    g = eagle.Graph()
    for i in range(nodes):
        g.add(plans[i % len(plans)].bind(a=a, x=x), name=f"n{i}")
    g.build()
    return g, x


def fork(samples: int, branches: int, nodes: int) -> tuple[Any, Any]:
    """Return a built graph of one group, and its arrays as one."""
    plan, x, a = eagle.deploy(affine), np.zeros((branches, samples)), np.full(samples, 0.5)
    g = eagle.Graph().add_group([[plan.bind(a=a, x=row) for _ in range(nodes)] for row in x])
    g.build()
    return g, x


def measure(case: str, samples: int, made: tuple[Any, Any], launches: int, each: bool = False) -> None:
    """Time a launch out of many: one by one, or as repetitions."""
    g, x = made
    run: Callable[[], object] = (
        (lambda: [g.launch() for _ in range(launches)]) if each else (lambda: g.launch(launches))
    )
    seconds, first = best(run, lambda: ())
    report(case, samples, seconds / launches, first, np.sum(x))


def main() -> None:
    """Print one row per case."""
    for nodes, launches in ((1, 1000), (64, 100), (128, 100)):
        measure(f"launch() of {nodes}", 8, chain([affine], 8, nodes), launches, each=True)
        measure(f"launch(n) of {nodes}, by n", 8, chain([affine], 8, nodes), launches)
    eight = [affine, damp, relax, square, root, invert, clip, mix]
    for samples in (1024, 100_000):
        measure(f"chain of 128, {samples}", samples, chain([affine], samples, 128), 10)
        measure(f"chain of 128, 8 kernels, {samples}", samples, chain(eight, samples, 128), 10)
    measure("fork of 8 x 16, 1024", 1024, fork(1024, 8, 16), 100)


if __name__ == "__main__":
    main()
