"""The Sun and its planets for one year, one leapfrog step written as an eagle graph.

The planets start where the analytical theory of Simon et al. (Astronomy and Astrophysics 282, 663, 1994), as computed
by ``plan94`` of ERFA, puts them at J2000. Its third planet is the Earth-Moon barycentre. A year later the barycentre
is compared with the same theory. Masses are the GM of JPL's DE440 (Park et al., Astronomical Journal 161, 105, 2021,
table 2), those of planets with their satellites.

Run it with ``python examples/solar_system.py``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import erfa
import numpy as np

import eagle
from eagle.graph import opaque

Array = np.ndarray[Any, np.dtype[np.float64]]

BODIES = ("Sun", "Mercury", "Venus", "Earth-Moon", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune")
GM_KM3_S2 = np.array(
    [
        132712440041.279419,
        22031.868551,
        324858.592,
        403503.235625,
        42828.375816,
        126712764.1,
        37940584.8418,
        5794556.4,
        6836527.10058,
    ]
)
AU_KM = 149597870.7
DAY_S = 86400.0
GM = GM_KM3_S2 * DAY_S**2 / AU_KM**3  # au^3 / day^2
J2000 = 2451545.0  # Julian date, TDB
YEAR_DAYS = 365.25
EARTH_MOON = BODIES.index("Earth-Moon")


@dataclass
class SolarSystem:
    """The state of all bodies about the common barycentre, and the graph of one step.

    Attributes
    ----------
    step_days : float
        The time step, in days.
    position, velocity : array, shape (9, 3)
        In au and au/day, equatorial J2000.
    energy : array, shape (1,)
        Total energy per unit of GM, in au^5/day^4, at the end of the last step.
    graph : eagle.Graph
    """

    step_days: float = 0.25
    report_every: int = 100
    position: Array = field(default_factory=lambda: np.zeros((len(BODIES), 3)))
    velocity: Array = field(default_factory=lambda: np.zeros((len(BODIES), 3)))
    energy: Array = field(default_factory=lambda: np.zeros(1))
    worst_drift: Array = field(default_factory=lambda: np.zeros(1))
    reports: Array = field(default_factory=lambda: np.zeros(1))

    def __post_init__(self) -> None:
        self.position[:], self.velocity[:] = barycentric(*theory(J2000))
        self.acceleration = accelerations(self.position)
        self.initial_energy = float(kinetic(self.velocity).sum() + potential(self.position).sum())
        self.graph = self._graph()

    def _graph(self) -> eagle.Graph:
        """Write one step down: kick, drift, force, kick, then what is measured of it."""
        x, v, a, h = self.position, self.velocity, self.acceleration, self.step_days
        kick = opaque(lambda: np.add(v, h / 2 * a, out=v), reads={"v": v, "a": a}, writes={"v": v}, name="kick")

        g = eagle.Graph()
        g.add_node(kick)
        g.add_node(opaque(lambda: np.add(x, h * v, out=x), reads={"x": x, "v": v}, writes={"x": x}), name="drift")
        g.add_node(opaque(lambda: np.copyto(a, accelerations(x)), reads={"x": x}, writes={"a": a}), name="force")
        g.add_node(kick)
        self._measure(g)
        return g.build()

    def _measure(self, g: eagle.Graph) -> None:
        """Add the energy of every step, and every so often a report."""
        x, v = self.position, self.velocity
        terms = np.zeros(2 * len(BODIES))
        of_motion, of_place = terms[: len(BODIES)], terms[len(BODIES) :]
        steps, due = np.zeros(1, np.int64), np.zeros(1, np.int64)

        def clock() -> None:
            steps[0] += 1
            due[0] = steps[0] % self.report_every == 0

        def report() -> None:
            self.worst_drift[0] = max(self.worst_drift[0], abs(self.energy[0] / self.initial_energy - 1))
            self.reports[0] += 1

        watch = {"worst": self.worst_drift, "reports": self.reports}
        look = opaque(report, reads={"energy": self.energy, **watch}, writes=watch, name="report")
        g.add_group(
            [
                opaque(lambda: np.copyto(of_motion, kinetic(v)), reads={"v": v}, writes={"of_motion": of_motion}),
                opaque(lambda: np.copyto(of_place, potential(x)), reads={"x": x}, writes={"of_place": of_place}),
                opaque(clock, reads={"steps": steps}, writes={"steps": steps, "due": due}),
            ],
            names=["kinetic", "potential", "clock"],
        )
        g.add_node(eagle.reduce(terms, self.energy), name="energy")
        g.add_node(eagle.skippable(look, eagle.SkipGuard.nonzero(due)), name="when due")

    def run(self, days: float) -> int:
        """Advance by `days` and return how many steps that took."""
        steps = round(days / self.step_days)
        self.graph.launch(steps)
        return steps

    def distance_km(self, date: float) -> float:
        """Return how far the Earth-Moon barycentre is from where the theory puts it at `date`, in km."""
        heliocentric = self.position[EARTH_MOON] - self.position[0]
        return float(np.linalg.norm(heliocentric - theory(date)[0][EARTH_MOON]) * AU_KM)


def theory(date: float) -> tuple[Array, Array]:
    """Return heliocentric positions (au) and velocities (au/day) of all bodies at a Julian date, TDB."""
    states = [erfa.plan94(date, 0.0, number) for number in range(1, len(BODIES))]
    zero = np.zeros((1, 3))
    return np.vstack([zero, *(s["p"] for s in states)]), np.vstack([zero, *(s["v"] for s in states)])


def barycentric(position: Array, velocity: Array) -> tuple[Array, Array]:
    """Return the state relative to the centre of mass."""
    share = GM[:, None] / GM.sum()
    return position - (share * position).sum(axis=0), velocity - (share * velocity).sum(axis=0)


def accelerations(position: Array) -> Array:
    """Return Newton's accelerations of all bodies, in au/day^2."""
    offset = position[None, :, :] - position[:, None, :]
    distance = np.sqrt((offset**2).sum(axis=-1))
    np.fill_diagonal(distance, np.inf)
    result: Array = np.einsum("j,ijk->ik", GM, offset / distance[:, :, None] ** 3)
    return result


def kinetic(velocity: Array) -> Array:
    """Return every body's kinetic energy, times G."""
    result: Array = 0.5 * GM * (velocity**2).sum(axis=-1)
    return result


def potential(position: Array) -> Array:
    """Return every body's half of the potential energy of its pairs, times G."""
    offset = position[None, :, :] - position[:, None, :]
    distance = np.sqrt((offset**2).sum(axis=-1))
    np.fill_diagonal(distance, np.inf)
    result: Array = -0.5 * GM * (GM / distance).sum(axis=1)
    return result


def main() -> None:
    """Run one year and print what came of it."""
    system = SolarSystem()
    print(system.graph)
    start = time.perf_counter()
    steps = system.run(YEAR_DAYS)
    seconds = time.perf_counter() - start
    print(f"\n{steps} steps of {system.step_days * 24:g} h, {steps / seconds:,.0f} steps per second")
    print(f"energy drift: at most {system.worst_drift[0]:.1e} of the energy, in {system.reports[0]:.0f} reports")
    print(f"Earth-Moon barycentre, one year on: {system.distance_km(J2000 + YEAR_DAYS):,.0f} km from the theory")


if __name__ == "__main__":
    main()
