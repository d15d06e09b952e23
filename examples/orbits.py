"""A hundred thousand satellites, each to its own next ascending node.

The satellites of the published SGP4 verification set (``data/sgp4_verification.csv`` names the source) are dispersed
to a batch, and every sample is integrated, about an Earth with its oblateness J2, until it crosses the equator
northwards. The independent variable is the eccentric anomaly of its starting orbit, so that a step is as fine at
perigee as it has to be; the last step is shortened until it ends on the equator.

Constants are those of WGS-72, which SGP4 uses (Hoots and Roehrich, Spacetrack Report No. 3, 1980). Mean elements are
taken as osculating ones, which is good enough for a start anywhere near each satellite's orbit.

Run it with ``python examples/orbits.py [SAMPLES] [PLOT.svg]``.
"""

from __future__ import annotations

import csv
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import eagle
import hawk
from hawk import Mutable, Param, Scalar, Terminated, Vector

Array = np.ndarray[Any, np.dtype[np.float64]]

MU = 398600.8  # km^3/s^2, gravitational parameter of the Earth
RADIUS = 6378.135  # km, of its equator
J2 = 1.082616e-3  # oblateness
ELEMENTS = Path(__file__).parent / "data" / "sgp4_verification.csv"
STEPS_PER_ORBIT = 720


def acceleration(r):  # noqa: ANN001, ANN201 - of the kernel language
    """Two-body attraction and the second zonal harmonic, in km/s^2 (Vallado, Fundamentals of Astrodynamics, 8.7)."""
    square = hawk.math.dot(r, r)
    pull = -MU / (square * math.sqrt(square))
    bulge = 1.5 * J2 * RADIUS * RADIUS / square
    tilt = 5.0 * r[2] * r[2] / square
    return hawk.vector(
        pull * r[0] * (1.0 + bulge * (1.0 - tilt)),
        pull * r[1] * (1.0 + bulge * (1.0 - tilt)),
        pull * r[2] * (1.0 + bulge * (3.0 - tilt)),
    )


def advance(r, v, t, h, scale):  # noqa: ANN001, ANN201 - of the kernel language
    """One step of the classical Runge-Kutta method in the eccentric anomaly: dt/dE = |r| scale."""
    rate1 = hawk.math.norm(r) * scale
    r1, v1 = rate1 * v, rate1 * acceleration(r)
    rate2 = hawk.math.norm(r + 0.5 * h * r1) * scale
    r2, v2 = rate2 * (v + 0.5 * h * v1), rate2 * acceleration(r + 0.5 * h * r1)
    rate3 = hawk.math.norm(r + 0.5 * h * r2) * scale
    r3, v3 = rate3 * (v + 0.5 * h * v2), rate3 * acceleration(r + 0.5 * h * r2)
    rate4 = hawk.math.norm(r + h * r3) * scale
    r4, v4 = rate4 * (v + h * v3), rate4 * acceleration(r + h * r3)
    return (
        r + h / 6.0 * (r1 + 2.0 * r2 + 2.0 * r3 + r4),
        v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4),
        t + h / 6.0 * (rate1 + 2.0 * rate2 + 2.0 * rate3 + rate4),
    )


@hawk.kernel
def to_ascending_node(  # noqa: ANN201 - of the kernel language
    h: Param,
    scale: Scalar,
    terminated: Terminated,
    r: Mutable[Vector[3]],
    v: Mutable[Vector[3]],
    t: Mutable[Scalar],
):
    """Advance by a step of `h` rad; where it crosses the equator northwards, end there."""
    r1, v1, t1 = advance(r, v, t, h, scale)
    if r[2] < 0.0 and r1[2] >= 0.0:
        part = h * r[2] / (r[2] - r1[2])
        tries = 0
        while tries < 8:  # Newton's method for the part of the step that ends at z = 0
            r1, v1, t1 = advance(r, v, t, part, scale)
            part -= r1[2] / (v1[2] * hawk.math.norm(r1) * scale)
            tries += 1
        terminated = True
    r, v, t = r1, v1, t1


def elements() -> Array:
    """Return inclination, node, eccentricity, argument of perigee, mean anomaly (rad), mean motion (rad/s), (6, 33)."""
    lines = [line for line in ELEMENTS.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    degrees = ("inclination", "ascending_node", "argument_of_perigee", "mean_anomaly")
    table = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    angles = {name: np.radians(table[name]) for name in degrees}
    motion = table["mean_motion"] * 2 * np.pi / 86400
    return np.stack(
        [
            angles["inclination"],
            angles["ascending_node"],
            table["eccentricity"],
            angles["argument_of_perigee"],
            angles["mean_anomaly"],
            motion,
        ]
    )


def disperse(samples: int, seed: int = 0) -> Array:
    """Return elements of so many samples, (6, samples): each a satellite of the set, moved a little, anywhere on it."""
    rng = np.random.default_rng(seed)
    base = elements()
    batch: Array = base[:, np.arange(samples) % base.shape[1]].copy()
    batch[0] = np.abs(batch[0] + rng.normal(0.0, 1e-3, samples))
    batch[1] += rng.normal(0.0, 1e-2, samples)
    batch[2] *= rng.uniform(0.98, 1.0, samples)
    batch[4] = rng.uniform(0.0, 2 * np.pi, samples)
    return batch


def states(batch: Array) -> tuple[Array, Array, Array]:
    """Return positions (km) and velocities (km/s), (3, n), and dt/dE per km of distance (s/km), (n,), of elements."""
    inclination, node, e, perigee, mean, motion = batch
    a = np.cbrt(MU / motion**2)
    anomaly = mean + e * np.sin(mean)
    for _ in range(50):  # Kepler's equation by Newton's method
        anomaly -= (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    root = np.sqrt(1 - e**2)
    x, y = a * (np.cos(anomaly) - e), a * root * np.sin(anomaly)
    speed = np.sqrt(MU * a) / (a * (1 - e * np.cos(anomaly)))
    vx, vy = -speed * np.sin(anomaly), speed * root * np.cos(anomaly)
    cn, sn, ci, si = np.cos(node), np.sin(node), np.cos(inclination), np.sin(inclination)
    cp, sp = np.cos(perigee), np.sin(perigee)
    p = np.stack([cn * cp - sn * sp * ci, sn * cp + cn * sp * ci, sp * si])
    q = np.stack([-cn * sp - sn * cp * ci, -sn * sp + cn * cp * ci, cp * si])
    return p * x + q * y, p * vx + q * vy, 1 / (a * motion)


def run(samples: int, seed: int = 0) -> tuple[eagle.SimResult, float]:
    """Take `samples` satellites to their next ascending node; return the result and the seconds it took."""
    r, v, scale = states(disperse(samples, seed))
    started = time.perf_counter()
    result = eagle.simulate(
        to_ascending_node,
        max_steps=2 * STEPS_PER_ORBIT,
        steps_per_sample=True,
        stop_on_nonfinite=True,
        h=2 * np.pi / STEPS_PER_ORBIT,
        scale=scale,
        r=r,
        v=v,
        t=np.zeros(samples),
    )
    return result, time.perf_counter() - started


def plot(result: eagle.SimResult, path: str) -> None:
    """Draw where each sample crosses the equator, and after how long."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    longitude = np.degrees(np.arctan2(result.r[1], result.r[0]))
    done = result.terminated
    axes.scatter(longitude[done][::20], result.t[done][::20] / 3600, s=1, alpha=0.5)
    axes.set(xlabel="right ascension of the node (deg)", ylabel="time to it (h)", yscale="log", xlim=(-180, 180))
    axes.set_title(f"{result.report.finished} satellites to their next ascending node", fontsize=10)
    figure.savefig(path)


def main() -> None:
    """Run a batch and print what came of it."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    run(64)  # compiles the kernel
    result, seconds = run(samples)
    steps, report = int(result.steps.sum()), result.report
    height = np.abs(result.r[2][result.terminated]).max(initial=0.0)
    print(f"{report.finished} of {report.samples} satellites reached their ascending node ({report.status})")
    hours = np.median(result.t) / 3600 if samples else 0.0
    print(f"at most {height:.1e} km from the equator, after {hours:.2f} h in the median")
    print(f"{steps:,} steps in {seconds:.2f} s: {steps / seconds:,.0f} sample-steps per second")
    if len(sys.argv) > 2:
        plot(result, sys.argv[2])
        print(f"drawn to {sys.argv[2]}")


if __name__ == "__main__":
    main()
