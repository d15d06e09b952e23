"""The same loops by JAX, as a while loop over the whole batch that vmap makes of one sample's."""

from __future__ import annotations

import sys
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from workloads import best, pendulums, report, walkers

jax.config.update("jax_enable_x64", True)


def swing(angle: Any, rate: Any) -> Any:
    """Run one pendulum to its end."""

    def step(state: Any) -> Any:
        a, r, _ = state
        r = r - 0.5 * 1e-2 * 9.81 * jnp.sin(a)
        a = a + 1e-2 * r
        r = r - 0.5 * 1e-2 * 9.81 * jnp.sin(a)
        return a, r, (a < 0.0) & (r > 0.0)

    return jax.lax.while_loop(lambda state: ~state[2], step, (angle, rate, False))


def walk(costs: Any, start: Any, energy: Any) -> Any:
    """Run one walker to its end."""

    def step(state: Any) -> Any:
        at, left = state
        cost = costs[at]
        far, near = cost > 1.25, cost > 0.75
        left = left - jnp.where(far, 0.5 * cost, jnp.where(near, cost * cost, cost))
        at = jnp.where(far, at + 7, jnp.where(near, at - 3, at * 3 + 1)) % 4096
        return at, left

    return jax.lax.while_loop(lambda state: state[1] > 0.0, step, (start, energy))


def main() -> None:
    """Print a row per case."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    out: dict[str, Any] = {}
    all_swing, all_walk = jax.jit(jax.vmap(swing)), jax.jit(jax.vmap(walk, in_axes=(None, 0, 0)))

    def run(angle: Any, rate: Any) -> None:
        out["check"] = np.asarray(jax.block_until_ready(all_swing(angle, rate))[0]).sum()

    report("pendulum", n, *best(run, lambda: pendulums(n), repeat=4), out["check"])
    start, energy, costs = walkers(n)

    def go(at: Any, left: Any) -> None:
        out["check"] = np.asarray(jax.block_until_ready(all_walk(costs, at, left))[0]).sum()

    report("table walk", n, *best(go, lambda: (start.copy(), energy.copy()), repeat=4), out["check"])


if __name__ == "__main__":
    main()
