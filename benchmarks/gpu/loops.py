"""Runge-Kutta until each sample is done: eagle, and what an expert writes by hand for CuPy and torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from benchmarks.gpu.arrays import has
from benchmarks.gpu.floors import Floors
from benchmarks.gpu.row import Row, measured
from benchmarks.performance.operations import work
from oscillator import rk4

import eagle
import hawk

__all__ = ["loop_rows", "oscillators"]

DT, LONGEST = 0.01, 1000


def oscillators(n: int, how: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return frequencies, damping ratios and numbers of steps: log-uniform in 1..1000, or all 1000."""
    rng = np.random.default_rng(0)
    omega, zeta = rng.uniform(0.5, 3.0, n), rng.uniform(0.01, 0.2, n)
    spread = np.exp(rng.uniform(0, np.log(LONGEST), n)).astype(np.int64).clip(1, LONGEST)
    return omega, zeta, (spread if how == "spread" else np.full(n, LONGEST)).astype(float)


def loop_rows(floors: Floors, array: Callable[[Any], Any], sizes: list[int], rounds: int) -> Iterator[Row]:
    """Yield a row per arm, number of samples and distribution of steps."""
    for n in sizes:
        for how in ("spread", "uniform"):
            inputs = oscillators(n, how)
            for fma in (False, True):
                yield _eagle(floors, array, inputs, f"rk4 {how}, {n}", rounds, fma=fma)
            for arm, run in _by_hand().items():
                seconds = measured(partial(run, *inputs), rounds)
                yield Row(f"rk4 {how}, {n}", arm, seconds)


def _eagle(floors: Floors, array: Callable[[Any], Any], inputs: Any, case: str, rounds: int, *, fma: bool) -> Row:
    omega, zeta, t_end = inputs
    plan = eagle.deploy(hawk.kernel(fma=fma)(rk4))
    done = work(plan.kernel, stepping=True)
    floor = floors.seconds(done.operations, float(t_end.sum()), done.moved * len(omega))
    planes = {"omega": array(omega), "zeta": array(zeta), "t_end": array(t_end)}

    def run() -> float:
        state = {"x": array(np.ones_like(omega)), "v": array(np.zeros_like(omega)), "t": array(np.zeros_like(omega))}
        return (
            eagle.until_done(plan, dt=DT, terminated=array(np.zeros(len(omega), bool)), **planes, **state).run().run_s
        )

    return Row(case, "eagle, fma" if fma else "eagle", measured(run, rounds), floor)


def _by_hand() -> dict[str, Callable[..., float]]:
    arms: dict[str, Callable[..., float]] = {}
    if has("cupy"):
        arms["cupy RawKernel"] = _cupy
    if has("torch") and _torch_has_a_device():
        arms["torch, masked steps"] = _torch
    return arms


_RAW = r"""
extern "C" __global__ void rk4(const double* omega, const double* zeta, const double* t_end, double dt, double* xs,
                               double* vs, double* ts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double w2 = omega[i] * omega[i], c = 2.0 * zeta[i] * omega[i], x = xs[i], v = vs[i], t = ts[i];
    while (t < t_end[i]) {
        double k1 = -w2 * x - c * v, x2 = x + 0.5 * dt * v, v2 = v + 0.5 * dt * k1;
        double k2 = -w2 * x2 - c * v2, x3 = x + 0.5 * dt * v2, v3 = v + 0.5 * dt * k2;
        double k3 = -w2 * x3 - c * v3, x4 = x + dt * v3, v4 = v + dt * k3;
        double k4 = -w2 * x4 - c * v4;
        x += dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
        v += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        t += 1.0;
    }
    xs[i] = x; vs[i] = v; ts[i] = t;
}
"""


def _cupy(omega: np.ndarray, zeta: np.ndarray, t_end: np.ndarray) -> float:
    import cupy

    kernel, n = cupy.RawKernel(_RAW, "rk4"), len(omega)
    inputs = [cupy.asarray(one) for one in (omega, zeta, t_end)]
    state = cupy.ones(n), cupy.zeros(n), cupy.zeros(n)
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    kernel((-(-n // 128),), (128,), (*inputs, DT, *state, np.int32(n)))
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start


def _torch_has_a_device() -> bool:
    """Whether the torch that is installed was built for CUDA; what tests its plugin on the CPU is not."""
    import torch

    return bool(torch.cuda.is_available())


def _torch(omega: np.ndarray, zeta: np.ndarray, t_end: np.ndarray) -> float:
    import torch

    w, z, end = (torch.tensor(one, device="cuda") for one in (omega, zeta, t_end))
    x, v, t = torch.ones_like(w), torch.zeros_like(w), torch.zeros_like(w)
    w2, c = w * w, 2 * z * w
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(int(t_end.max())):
        running = t < end
        k1 = -w2 * x - c * v
        x2, v2 = x + 0.5 * DT * v, v + 0.5 * DT * k1
        k2 = -w2 * x2 - c * v2
        x3, v3 = x + 0.5 * DT * v2, v + 0.5 * DT * k2
        k3 = -w2 * x3 - c * v3
        x4, v4 = x + DT * v3, v + DT * k3
        k4 = -w2 * x4 - c * v4
        new_x, new_v = x + DT / 6 * (v + 2 * v2 + 2 * v3 + v4), v + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        x, v, t = torch.where(running, new_x, x), torch.where(running, new_v, v), t + running
    torch.cuda.synchronize()
    return time.perf_counter() - start
