"""The same loops by numba, one sample after another on all cores."""

from __future__ import annotations

import sys
from typing import Any

import numba
import numpy as np
from workloads import best, pendulums, report, walkers


@numba.njit(parallel=True)
def swing(angle: Any, rate: Any) -> None:
    """Run every pendulum to its end."""
    for i in numba.prange(angle.size):
        a, r = angle[i], rate[i]
        while True:
            r -= 0.5 * 1e-2 * 9.81 * np.sin(a)
            a += 1e-2 * r
            r -= 0.5 * 1e-2 * 9.81 * np.sin(a)
            if a < 0.0 and r > 0.0:
                break
        angle[i], rate[i] = a, r


@numba.njit(parallel=True)
def walk(costs: Any, start: Any, energy: Any) -> None:
    """Run every walker to its end."""
    for i in numba.prange(start.size):
        at, left = start[i], energy[i]
        while True:
            cost = costs[at]
            if cost > 1.25:
                at += 7
                left -= 0.5 * cost
            elif cost > 0.75:
                at -= 3
                left -= cost * cost
            else:
                at = at * 3 + 1
                left -= cost
            at = at % 4096
            if left <= 0.0:
                break
        start[i], energy[i] = at, left


def main() -> None:
    """Print a row per case."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    out: dict[str, Any] = {}

    def run(angle: Any, rate: Any) -> None:
        swing(angle, rate)
        out["check"] = angle.sum()

    report("pendulum", n, *best(run, lambda: pendulums(n)), out["check"])
    start, energy, costs = walkers(n)

    def go(at: Any, left: Any) -> None:
        walk(costs, at, left)
        out["check"] = at.sum()

    report("table walk", n, *best(go, lambda: (start.copy(), energy.copy())), out["check"])


if __name__ == "__main__":
    main()
