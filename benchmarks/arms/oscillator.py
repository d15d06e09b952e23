"""The Runge-Kutta step that every eagle measures, by a front end that both of them have."""
# ruff: noqa: ANN201 - a kernel returns what its language says

from __future__ import annotations

from hawk import Mutable, Param, Scalar, Terminated

__all__ = ["rk4"]


def rk4(
    omega: Scalar,
    zeta: Scalar,
    t_end: Scalar,
    dt: Param,
    terminated: Terminated,
    x: Mutable[Scalar],
    v: Mutable[Scalar],
    t: Mutable[Scalar],
):
    """One step of the classical Runge-Kutta method for a damped oscillator."""
    w2 = omega * omega
    c = 2.0 * zeta * omega
    k1 = -w2 * x - c * v
    x2 = x + 0.5 * dt * v
    v2 = v + 0.5 * dt * k1
    k2 = -w2 * x2 - c * v2
    x3 = x + 0.5 * dt * v2
    v3 = v + 0.5 * dt * k2
    k3 = -w2 * x3 - c * v3
    x4 = x + dt * v3
    v4 = v + dt * k3
    k4 = -w2 * x4 - c * v4
    x = x + dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
    v = v + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    t += 1.0
    terminated = t >= t_end
