"""Orbits in the potential of Henon and Heiles: JAX differentiates the potential, hawk takes the steps, in one graph.

The potential (Henon and Heiles, Astronomical Journal 69, 73, 1964) is written down once, and its forces are JAX's
gradient of it. A leapfrog step in hawk kicks and drifts a thousand orbits with them; the energy of each is kept to the
step's own error, and swings with it instead of drifting.

Run it with ``python examples/orbits_in_a_well.py``; it needs the distributions eagle-jax and jax.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

import eagle
import hawk
from eagle.frameworks import jax as eagle_jax
from hawk import Mutable, Param, Scalar

Array = np.ndarray[Any, np.dtype[np.float64]]


def potential(x: Any, y: Any) -> Any:
    """Return the potential at a place, for a unit of mass; below 1/6 no orbit escapes."""
    return 0.5 * (x * x + y * y) + x * x * y - y * y * y / 3


def forces(x: Any, y: Any) -> dict[str, Any]:
    """Return the forces on each orbit, and its potential energy."""
    height, (slope_x, slope_y) = jax.vmap(jax.value_and_grad(potential, argnums=(0, 1)))(x, y)
    return {"fx": -slope_x, "fy": -slope_y, "height": height}


@hawk.kernel
def kick_and_drift(
    fx: Scalar, fy: Scalar, dt: Param, x: Mutable[Scalar], y: Mutable[Scalar], u: Mutable[Scalar], v: Mutable[Scalar]
) -> None:
    """Take one orbit half a kick further, and a step along."""
    u += 0.5 * dt * fx
    v += 0.5 * dt * fy
    x += dt * u
    y += dt * v


@hawk.kernel
def kick(
    fx: Scalar, fy: Scalar, height: Scalar, dt: Param, u: Mutable[Scalar], v: Mutable[Scalar], energy: Mutable[Scalar]
) -> None:
    """End the step by the other half of the kick, and add up the energy."""
    u += 0.5 * dt * fx
    v += 0.5 * dt * fy
    energy = height + 0.5 * (u * u + v * v)


@dataclass
class Well:
    """Orbits of one energy and many directions, and the graph of one step.

    Attributes
    ----------
    orbits : int
    dt : float
    x, y, u, v, energy : array, shape (orbits,)
        Places, velocities, and each orbit's energy at the end of the last step.
    graph : eagle.Graph
    """

    orbits: int = 1000
    dt: float = 0.02
    start: float = 0.1
    planes: dict[str, Array] = field(init=False)
    graph: eagle.Graph = field(init=False)

    def __post_init__(self) -> None:
        names = ("x", "y", "u", "v", "fx", "fy", "height", "energy")
        self.planes = {name: np.zeros(self.orbits) for name in names}
        angle = 2 * np.pi * np.arange(self.orbits) / self.orbits
        speed = np.sqrt(2 * self.start)
        self.planes["u"][:], self.planes["v"][:] = speed * np.cos(angle), speed * np.sin(angle)
        self.graph = self._graph()

    def _graph(self) -> eagle.Graph:
        p = self.planes
        force = eagle_jax.node(
            forces, reads={"x": p["x"], "y": p["y"]}, writes={name: p[name] for name in ("fx", "fy", "height")}
        )
        drift, end = eagle.deploy(kick_and_drift), eagle.deploy(kick)
        g = eagle.Graph()
        g.add(drift.bind(dt=self.dt, **{name: p[name] for name in ("fx", "fy", "x", "y", "u", "v")}), name="drift")
        g.add_node(force)
        g.add(
            end.bind(dt=self.dt, **{name: p[name] for name in ("fx", "fy", "height", "u", "v", "energy")}), name="kick"
        )
        return g.build()

    def run(self, duration: float) -> float:
        """Advance, and return the largest change of any orbit's energy at the end, relative to what it began with."""
        self.graph.launch(round(duration / self.dt))
        return float(np.abs(self.planes["energy"] / self.start - 1).max())


def main() -> None:
    """Follow a thousand orbits for a while."""
    well = Well()
    print(well.graph)
    print(f"energy kept to {well.run(100.0):.1e}")
    print(f"farthest out: {np.hypot(well.planes['x'], well.planes['y']).max():.3f}")


if __name__ == "__main__":
    main()
