"""The five kernels and RK4 by numba, as a server: one sample after another on all cores."""

from __future__ import annotations

from math import exp, sin
from typing import Any

import numba
import numpy as np
from characters import LAUNCHES, inputs, steps
from serve import Case, serve
from workloads import oscillators


@numba.njit
def wave(a: float, x: float) -> float:
    return sin(x) + exp(-a * x * x)


@numba.njit
def branch(a: float, x: float) -> float:
    if x > a:
        return 0.5 * x - 0.75 * a
    if x > 0.0:
        return x * x + 0.25 * a
    return 1.0 - x * (0.5 + a)


@numba.njit(parallel=True)
def waves(a: Any, x: Any) -> None:
    for i in numba.prange(x.size):
        x[i] = wave(a[i], x[i])


@numba.njit(parallel=True)
def waves_each(left: Any, a: Any, x: Any) -> None:
    for i in numba.prange(x.size):
        y = x[i]
        for _ in range(int(left[i])):
            y = wave(a[i], y)
        x[i] = y


@numba.njit(parallel=True)
def branches(a: Any, x: Any) -> None:
    for i in numba.prange(x.size):
        x[i] = branch(a[i], x[i])


@numba.njit(parallel=True)
def branches_each(left: Any, a: Any, x: Any) -> None:
    for i in numba.prange(x.size):
        y = x[i]
        for _ in range(int(left[i])):
            y = branch(a[i], y)
        x[i] = y


@numba.njit(parallel=True)
def turn(m: Any, v: Any) -> None:
    for i in numba.prange(v.shape[1]):
        x, y, z = v[0, i], v[1, i], v[2, i]
        for row in range(3):
            v[row, i] = m[3 * row, i] * x + m[3 * row + 1, i] * y + m[3 * row + 2, i] * z


@numba.njit(parallel=True)
def turn_each(left: Any, m: Any, v: Any) -> None:
    for i in numba.prange(v.shape[1]):
        x, y, z = v[0, i], v[1, i], v[2, i]
        a, b, c, d, e, f, g, h, k = m[0, i], m[1, i], m[2, i], m[3, i], m[4, i], m[5, i], m[6, i], m[7, i], m[8, i]
        for _ in range(int(left[i])):
            x, y, z = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + k * z
        v[0, i], v[1, i], v[2, i] = x, y, z


@numba.njit(parallel=True)
def look(costs: Any, at: Any, y: Any) -> None:
    for i in numba.prange(y.size):
        at[i] = (5 * at[i] + 1) % 4096
        y[i] += costs[at[i]]


@numba.njit(parallel=True)
def look_each(left: Any, costs: Any, at: Any, y: Any) -> None:
    for i in numba.prange(y.size):
        cell, spent = at[i], y[i]
        for _ in range(int(left[i])):
            cell = (5 * cell + 1) % 4096
            spent += costs[cell]
        at[i], y[i] = cell, spent


@numba.njit(parallel=True)
def add(a: Any, b: Any, x: Any) -> None:
    for i in numba.prange(x.size):
        x[i] = a[i] * x[i] + b[i]


@numba.njit(parallel=True)
def add_each(left: Any, a: Any, b: Any, x: Any) -> None:
    for i in numba.prange(x.size):
        y = x[i]
        for _ in range(int(left[i])):
            y = a[i] * y + b[i]
        x[i] = y


@numba.njit(parallel=True)
def rk4(omega: Any, zeta: Any, t_end: Any, dt: float, x: Any, v: Any, t: Any) -> None:
    """Run every oscillator to its end."""
    for i in numba.prange(omega.size):
        w2, c = omega[i] * omega[i], 2.0 * zeta[i] * omega[i]
        place, speed, now, end = x[i], v[i], t[i], t_end[i]
        while now < end:
            k1 = -w2 * place - c * speed
            v2 = speed + 0.5 * dt * k1
            k2 = -w2 * (place + 0.5 * dt * speed) - c * v2
            v3 = speed + 0.5 * dt * k2
            k3 = -w2 * (place + 0.5 * dt * v2) - c * v3
            v4 = speed + dt * k3
            k4 = -w2 * (place + dt * v3) - c * v4
            place += dt / 6.0 * (speed + 2.0 * v2 + 2.0 * v3 + v4)
            speed += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            now += 1.0
        x[i], v[i], t[i] = place, speed, now


def make(case: str, n: int) -> Case:
    """Return what a request asks for."""
    kind, _, name = case.partition(" ")
    if kind == "rk4":
        planes = oscillators(n, name)

        def oscillate(x: Any, v: Any, t: Any) -> Any:
            rk4(*planes, 0.01, x, v, t)
            return [x]

        return Case(lambda: (np.ones(n), np.zeros(n), np.zeros(n)), oscillate, total)
    read, state = inputs(name, n)
    function = globals()[name if kind == "plain" else f"{name}_each"]
    first, launches = ((), LAUNCHES) if kind == "plain" else ((steps(n),), 1)

    def run(*changed: Any) -> Any:
        for _ in range(launches):
            function(*first, *read.values(), *changed)
        return changed

    return Case(lambda: tuple(one.copy() for one in state.values()), run, total)


def total(state: Any) -> float:
    return sum(float(one.sum()) for one in state)


if __name__ == "__main__":
    serve(make)
