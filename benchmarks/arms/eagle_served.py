"""The five kernels and RK4 by eagle, as a server; the published eagle runs it too, as far as it can."""
# ruff: noqa: ANN201 - a kernel returns what its language says

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from characters import LAUNCHES, inputs, steps
from oscillator import rk4  # noqa: F401 - a kernel to be named
from serve import Case, serve
from workloads import STEPS, oscillators

import eagle
import hawk
import hawk.math
from hawk import Index, Matrix, Mutable, Scalar, Table, Terminated, Vector


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


def run_each(name: str, read: dict[str, Any], start: dict[str, Any], shown: Any) -> Case:
    """Run every sample to its end, by a runner that is made once, on planes that are filled anew."""
    planes = {key: one.copy() for key, one in start.items()}
    runner = eagle.until_done(eagle.deploy(kernel(name)), max_steps=2 * STEPS, **planes, **read)

    def setup() -> tuple[Any, ...]:
        for key, one in planes.items():
            np.copyto(one, start[key])
        runner.reset()
        return ()

    def run() -> Any:
        runner.run()
        return {key: planes[key] for key in shown}

    return Case(setup, run, total)


def each(name: str, n: int) -> Case:
    """Run every sample for its own number of steps."""
    read, state = inputs(name.removesuffix("_each"), n)
    return run_each(name, read, {"left": steps(n), **state}, state)


def oscillate(dist: str, n: int) -> Case:
    """RK4, every sample to its end."""
    read = dict(zip(("omega", "zeta", "t_end"), oscillators(n, dist), strict=True))
    return run_each("rk4", {**read, "dt": 0.01}, {"x": np.ones(n), "v": np.zeros(n), "t": np.zeros(n)}, ["x"])


def eager(how: str, n: int) -> Case:
    """RK4 a step at a time with a look at the mask after each; or as one call that makes everything anew."""
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

    bound = eagle.deploy(kernel("rk4"), steps=1).bind(**planes, terminated=done)

    def loop() -> Any:
        while not done.all():
            bound.launch()
        return {"x": state["x"]}

    def simulate() -> Any:
        eagle.simulate(kernel("rk4"), max_steps=2 * STEPS, **planes)
        return {"x": state["x"]}

    return Case(setup, loop if how == "loop" else simulate, total)


def total(state: Any) -> float:
    """The sum of the state."""
    return sum(float(one.sum()) for one in state.values())


def make(case: str, n: int) -> Case:
    """Return what a request asks for."""
    kind, _, name = case.partition(" ")
    return {"plain": plain, "each": each, "rk4": oscillate, "eager": eager}[kind](
        name if kind != "each" else f"{name}_each", n
    )


if __name__ == "__main__":
    serve(make)
