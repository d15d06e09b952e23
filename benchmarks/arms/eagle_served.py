"""The five kernels and RK4 by eagle, as a server; the published eagle runs it too, as far as it has what a case needs."""
# ruff: noqa: ANN201 - a kernel returns what its language says

from __future__ import annotations

from functools import cache
from typing import Any

import hawk.math
import numpy as np
from characters import LAUNCHES, inputs, steps
from hawk import Index, Matrix, Mutable, Scalar, Table, Terminated, Vector
from oscillator import rk4
from serve import Case, serve
from workloads import STEPS, oscillators

import eagle
import hawk


def waves(a: Scalar, x: Mutable[Scalar]):
    x = hawk.math.sin(x) + hawk.math.exp(-a * x * x)


def waves_each(a: Scalar, terminated: Terminated, left: Mutable[Scalar], x: Mutable[Scalar]):
    x = hawk.math.sin(x) + hawk.math.exp(-a * x * x)
    left -= 1.0
    terminated = left <= 0.0


def branches(a: Scalar, x: Mutable[Scalar]):
    if x > a:
        x = 0.5 * x - 0.75 * a
    elif x > 0.0:
        x = x * x + 0.25 * a
    else:
        x = 1.0 - x * (0.5 + a)


def branches_each(a: Scalar, terminated: Terminated, left: Mutable[Scalar], x: Mutable[Scalar]):
    if x > a:
        x = 0.5 * x - 0.75 * a
    elif x > 0.0:
        x = x * x + 0.25 * a
    else:
        x = 1.0 - x * (0.5 + a)
    left -= 1.0
    terminated = left <= 0.0


def turn(m: Matrix[3, 3], v: Mutable[Vector[3]]):
    v = m @ v


def turn_each(m: Matrix[3, 3], terminated: Terminated, left: Mutable[Scalar], v: Mutable[Vector[3]]):
    v = m @ v
    left -= 1.0
    terminated = left <= 0.0


def look(costs: Table[Scalar], at: Mutable[Index], y: Mutable[Scalar]):
    at = (5 * at + 1) % 4096
    y += costs[at]


def look_each(
    costs: Table[Scalar], terminated: Terminated, left: Mutable[Scalar], at: Mutable[Index], y: Mutable[Scalar]
):
    at = (5 * at + 1) % 4096
    y += costs[at]
    left -= 1.0
    terminated = left <= 0.0


def add(a: Scalar, b: Scalar, x: Mutable[Scalar]):
    x = a * x + b


def add_each(a: Scalar, b: Scalar, terminated: Terminated, left: Mutable[Scalar], x: Mutable[Scalar]):
    x = a * x + b
    left -= 1.0
    terminated = left <= 0.0


@cache
def kernel(name: str) -> Any:
    """Make a kernel when it is asked for: what one front end refuses must not take the others with it."""
    return hawk.kernel(globals()[name])


def plain(name: str, n: int) -> Case:
    """Launch the kernel a few times on the same planes, as a program that steps a batch does."""
    read, state = inputs(name, n)
    start = {key: one.copy() for key, one in state.items()}
    bound = eagle.deploy(kernel(name)).bind(**read, **state)

    def setup() -> tuple[Any, ...]:
        for key, one in state.items():
            np.copyto(one, start[key])
        return ()

    def run() -> Any:
        for _ in range(LAUNCHES):
            bound.launch()
        return state

    return Case(setup, run, total)


def each(name: str, n: int) -> Case:
    """Run every sample for its own number of steps."""
    read, state = inputs(name.removesuffix("_each"), n)
    counts = steps(n)

    def setup() -> tuple[Any, ...]:
        return ({"left": counts.copy(), **{key: one.copy() for key, one in state.items()}},)

    def run(planes: Any) -> Any:
        eagle.simulate(kernel(name), **read, **planes, max_steps=1000)
        return {key: planes[key] for key in state}

    return Case(setup, run, total)


def oscillate(dist: str, n: int) -> Case:
    """RK4, every sample to its end."""
    read = dict(zip(("omega", "zeta", "t_end"), oscillators(n, dist), strict=True))

    def setup() -> tuple[Any, ...]:
        return np.ones(n), np.zeros(n), np.zeros(n)

    def run(x: Any, v: Any, t: Any) -> Any:
        eagle.simulate(kernel("rk4"), **read, dt=0.01, x=x, v=v, t=t, max_steps=2 * STEPS)
        return {"x": x}

    return Case(setup, run, total)


def eager(how: str, n: int) -> Case:
    """RK4 a step at a time with a look at the mask after each, or as one loop that looks for itself."""
    read = dict(zip(("omega", "zeta", "t_end"), oscillators(n, "spread"), strict=True))
    state = {"x": np.ones(n), "v": np.zeros(n), "t": np.zeros(n)}
    start = {key: one.copy() for key, one in state.items()}
    done = np.zeros(n, bool)
    planes = {**read, **state, "dt": 0.01}

    def setup() -> tuple[Any, ...]:
        done[:] = False
        for key, one in state.items():
            np.copyto(one, start[key])
        return ()

    step = eagle.deploy(kernel("rk4"), steps=1)
    bound = step.bind(**planes, terminated=done)

    def loop() -> Any:
        while not done.all():
            bound.launch()
        return {"x": state["x"]}

    def graph() -> Any:
        eagle.until_done(step, max_steps=2 * STEPS, **planes).run()
        return {"x": state["x"]}

    return Case(setup, loop if how == "loop" else graph, total)


def total(state: Any) -> float:
    """The sum of the state."""
    return sum(float(one.sum()) for one in state.values())


def make(case: str, n: int) -> Case:
    """Return what a request asks for."""
    kind, _, name = case.partition(" ")
    return {"plain": plain, "each": each, "rk4": oscillate, "eager": eager}[kind](name if kind != "each" else f"{name}_each", n)


if __name__ == "__main__":
    serve(make)
