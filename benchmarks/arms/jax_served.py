"""The five kernels and RK4 by JAX, as a server: one sample's function under vmap and jit, on JAX's own arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np
from characters import LAUNCHES, inputs, steps
from jax import numpy as jnp
from serve import Case, serve
from workloads import oscillators

jax.config.update("jax_enable_x64", True)


def waves(a: Any, x: Any) -> Any:
    return (jnp.sin(x) + jnp.exp(-a * x * x),)


def branches(a: Any, x: Any) -> Any:
    return (jnp.where(x > a, 0.5 * x - 0.75 * a, jnp.where(x > 0.0, x * x + 0.25 * a, 1.0 - x * (0.5 + a))),)


def turn(m: Any, v: Any) -> Any:
    return (m.reshape(3, 3) @ v,)


def look(costs: Any, at: Any, y: Any) -> Any:
    at = (5 * at + 1) % 4096
    return at, y + costs[at]


def add(a: Any, b: Any, x: Any) -> Any:
    return (a * x + b,)


def rk4(read: Any, state: Any) -> Any:
    """One oscillator to its end."""
    omega, zeta, t_end = read
    w2, c, dt = omega * omega, 2.0 * zeta * omega, 0.01

    def step(state: Any) -> Any:
        x, v, t = state
        k1 = -w2 * x - c * v
        v2 = v + 0.5 * dt * k1
        k2 = -w2 * (x + 0.5 * dt * v) - c * v2
        v3 = v + 0.5 * dt * k2
        k3 = -w2 * (x + 0.5 * dt * v2) - c * v3
        v4 = v + dt * k3
        k4 = -w2 * (x + dt * v3) - c * v4
        x = x + dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        return x, v + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), t + 1.0

    return jax.lax.while_loop(lambda state: state[2] < t_end, step, state)[:1]


def axes(values: Any) -> Any:
    """The axis of the samples in each of a kernel's arguments: their last one, and none in a table."""
    return tuple(None if key == "costs" else one.ndim - 1 for key, one in values.items())


@cache
def compiled(kind: str, name: str) -> Any:
    """Return the function of all samples, compiled."""
    if kind == "rk4":
        return jax.jit(jax.vmap(rk4))
    one = globals()[name]
    read, state = inputs(name, 1)

    def plain(read: Any, state: Any) -> Any:
        return one(*read, *state)

    def each(left: Any, read: Any, state: Any) -> Any:
        def step(carried: Any) -> Any:
            return carried[0] - 1.0, one(*read, *carried[1])

        return jax.lax.while_loop(lambda carried: carried[0] > 0.0, step, (left, state))[1]

    if kind == "plain":
        return jax.jit(jax.vmap(plain, (axes(read), axes(state)), tuple(axes(state))))
    return jax.jit(jax.vmap(each, (0, axes(read), axes(state)), tuple(axes(state))))


def make(case: str, n: int) -> Case:
    """Return what a request asks for."""
    kind, _, name = case.partition(" ")
    function = compiled(kind, name if kind != "rk4" else "")
    if kind == "rk4":
        read: Any = tuple(map(jnp.asarray, oscillators(n, name)))
        state: Any = (jnp.ones(n), jnp.zeros(n), jnp.zeros(n))
    else:
        read, state = (tuple(map(jnp.asarray, values.values())) for values in inputs(name, n))
    left = (jnp.asarray(steps(n)),) if kind == "each" else ()

    def run() -> Any:
        now = state
        for _ in range(LAUNCHES if kind == "plain" else 1):
            now = function(*left, read, now)
        return jax.block_until_ready(now)

    return Case(tuple, run, lambda result: sum(float(np.asarray(one).sum()) for one in result))


if __name__ == "__main__":
    serve(make)
