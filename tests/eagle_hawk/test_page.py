"""The specification's kernel and the Runge-Kutta step: signature, text, print, and one step."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hawk
from eagle.plugin import Argument
from eagle_ir import verify
from hawk import Mutable, Param, Scalar, Terminated


@hawk.kernel
def oscillator(omega: Scalar, t_end: Param, dt: Param, terminated: Terminated,
               x: Mutable[Scalar], v: Mutable[Scalar], t: Mutable[Scalar]):  # fmt: skip
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end


@hawk.kernel
def rk4(omega: Scalar, zeta: Scalar, t_end: Scalar, dt: Param, terminated: Terminated,
        x: Mutable[Scalar], v: Mutable[Scalar], t: Mutable[Scalar]):  # fmt: skip
    w2 = omega * omega
    c = 2.0 * zeta * omega
    k1v = -w2 * x - c * v
    x2 = x + 0.5 * dt * v
    v2 = v + 0.5 * dt * k1v
    k2v = -w2 * x2 - c * v2
    x3 = x + 0.5 * dt * v2
    v3 = v + 0.5 * dt * k2v
    k3v = -w2 * x3 - c * v3
    x4 = x + dt * v3
    v4 = v + dt * k3v
    k4v = -w2 * x4 - c * v4
    x = x + dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
    v = v + dt / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v)
    t += 1.0
    terminated = t >= t_end


def test_the_signature_of_the_page() -> None:
    def plane(name: str, mode: Any) -> Argument:
        return Argument(name=name, role="sample", mode=mode, dtype="float64")

    assert oscillator.signature == (
        plane("omega", "r"),
        Argument(name="t_end", role="param", mode="r", dtype="float64"),
        Argument(name="dt", role="param", mode="r", dtype="float64"),
        Argument(name="terminated", role="mask", mode="rw", dtype="bool"),
        plane("x", "rw"),
        plane("v", "rw"),
        plane("t", "rw"),
    )


def test_a_step_gives_the_bits_numpy_gives(run: Callable[..., Any]) -> None:
    omega, x, v = np.linspace(1, 3, 5), np.linspace(-1, 1, 5), np.linspace(2, 0, 5)
    t = np.array([0.0, 0.5, 0.9985, 0.9995, 2.0])
    dt = 1e-3
    results = run(oscillator, omega=omega, x=x, v=v, t=t, dt=dt, t_end=1.0)
    assert np.array_equal(results["x"], x + dt * v)
    assert np.array_equal(results["v"], v - dt * omega * omega * x)
    assert np.array_equal(results["t"], t + dt)
    assert results["terminated"].tolist() == [False, False, False, True, True]


def test_a_finished_sample_is_left_alone(run: Callable[..., Any]) -> None:
    planes = {"omega": [1.0, 1.0], "x": [1.0, 1.0], "v": [0.0, 0.0], "t": [0.0, 0.0]}
    results = run(oscillator, **planes, terminated=[True, False], dt=0.1, t_end=1.0)
    assert results["t"].tolist() == [0.0, 0.1]


def test_rk4_is_verified_in_both_float_types() -> None:
    for scalar in ("float64", "float32"):
        kernel = rk4.__eagle_kernel__(scalar)
        verify(kernel.code)  # type: ignore[arg-type]
        assert kernel.dialect == "eagle-ir/1"
        assert {one.dtype for one in kernel.arguments} == {scalar, "bool"}
    assert rk4.__eagle_kernel__() is rk4.__eagle_kernel__("float64")


def test_a_float32_step_computes_in_float32(run: Callable[..., Any]) -> None:
    f = np.float32
    planes = {"omega": [1.1], "x": [0.3], "v": [0.7], "t": [0.0]}
    results = run(oscillator, "float32", **planes, dt=0.1, t_end=1.0)
    assert results["x"][0] == f(0.3) + f(0.1) * f(0.7)
    assert results["v"][0] == f(0.7) - f(0.1) * f(1.1) * f(1.1) * f(0.3)


def test_printing_a_kernel_shows_its_planes() -> None:
    assert repr(oscillator).splitlines() == [
        "kernel oscillator",
        "  omega       Scalar           read                    float64 (n,)",
        "  t_end       Param            number                  float64",
        "  dt          Param            number                  float64",
        "  terminated  Terminated       mask, read and written  bool (n,)",
        "  x           Mutable[Scalar]  read and written        float64 (n,)",
        "  v           Mutable[Scalar]  read and written        float64 (n,)",
        "  t           Mutable[Scalar]  read and written        float64 (n,)",
    ]


def test_the_source_is_kept() -> None:
    assert oscillator.source.startswith("@hawk.kernel\ndef oscillator(")
    assert oscillator.source.endswith("    terminated = t >= t_end\n")
