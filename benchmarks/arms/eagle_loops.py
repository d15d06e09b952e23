"""Loops that stop per sample, by eagle."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np
import oscillator
from workloads import best, oscillators, pendulums, report, walkers

import eagle
import hawk
from hawk import Index, Mutable, Param, Scalar, Table, Terminated

rk4 = hawk.kernel(oscillator.rk4)


@hawk.kernel(fma=True)
def rk4_fma(  # noqa: ANN201
    omega: Scalar,
    zeta: Scalar,
    t_end: Scalar,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """The same with every a * b + c rounded once, as compilers contract it that are let."""
    rk4(omega, zeta, t_end, dt, terminated, x, v, t)


@hawk.kernel
def pendulum(dt: Param, terminated: Terminated, angle: Mutable[Scalar], rate: Mutable[Scalar]):  # noqa: ANN201
    """One leapfrog step; it ends when the pendulum has swung to the other side and turns back."""
    rate -= 0.5 * dt * 9.81 * np.sin(angle)
    angle += dt * rate
    rate -= 0.5 * dt * 9.81 * np.sin(angle)
    terminated = angle < 0.0 and rate > 0.0


@hawk.kernel
def walk(costs: Table[Scalar], terminated: Terminated, at: Mutable[Index], energy: Mutable[Scalar]):  # noqa: ANN201
    """One step along a table of costs, forwards or back by what a cell costs."""
    cost = costs[at]
    if cost > 1.25:
        at += 7
        energy -= 0.5 * cost
    elif cost > 0.75:
        at -= 3
        energy -= cost * cost
    else:
        at = at * 3 + 1
        energy -= cost
    at = at % 4096
    terminated = energy <= 0.0


def main() -> None:
    """Print a row per case."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    out: dict[str, Any] = {}
    for dist, kernel in product(("spread", "uniform"), (rk4, rk4_fma)):
        inputs = dict(zip(("omega", "zeta", "t_end"), oscillators(n, dist), strict=True))

        def run(x: Any, v: Any, t: Any, kernel: Any = kernel, inputs: dict[str, Any] = inputs) -> None:
            eagle.simulate(kernel, **inputs, dt=0.01, x=x, v=v, t=t, max_steps=2000)
            out["check"] = x.sum()

        seconds, first = best(run, lambda: (np.ones(n), np.zeros(n), np.zeros(n)))
        report(f"rk4 {dist}" + (", fma" if kernel is rk4_fma else ""), n, seconds, first, out["check"])

    def swing(angle: Any, rate: Any) -> None:
        eagle.simulate(pendulum, dt=1e-2, angle=angle, rate=rate, max_steps=100_000)
        out["check"] = angle.sum()

    seconds, first = best(swing, lambda: pendulums(n))
    report("pendulum", n, seconds, first, out["check"])
    start, energy, costs = walkers(n)

    def go(at: Any, left: Any) -> None:
        eagle.simulate(walk, costs=costs, at=at, energy=left, max_steps=100_000)
        out["check"] = at.sum()

    seconds, first = best(go, lambda: (start.copy(), energy.copy()))
    report("table walk", n, seconds, first, out["check"])


if __name__ == "__main__":
    main()
