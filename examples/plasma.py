"""A cold plasma that oscillates: Warp deposits charge and gathers the field, hawk moves the electrons, in one graph.

Electrons in a periodic box of length 2 pi, before a background of ions at rest, are pushed off their places by a wave
and swing back at the plasma frequency (Birdsall and Langdon, Plasma Physics via Computer Simulation, 1985, chapter 4).
In units of that frequency the period is 2 pi, whatever the amplitude of the wave, as long as no electron overtakes
another. The method is the particle mesh: charge is shared by the two nearest points of a grid, on which the field is
solved for.

Run it with ``python examples/plasma.py``; it needs the distributions eagle-warp and warp-lang.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

import eagle
import hawk
from eagle.frameworks import warp as eagle_warp
from eagle.graph import opaque
from hawk import Mutable, Param, Scalar

Array = np.ndarray[Any, np.dtype[np.float64]]

LENGTH = 2 * np.pi


@wp.kernel
def deposit(x: wp.array(dtype=wp.float64), charge: wp.float64, density: wp.array(dtype=wp.float64)) -> None:
    """Share each electron's charge among the two nearest points of the grid."""
    i = wp.tid()
    cells = density.shape[0]
    place = x[i] * wp.float64(cells) / wp.float64(6.283185307179586)
    low = wp.int32(wp.floor(place))
    share = place - wp.float64(low)
    wp.atomic_add(density, low % cells, charge * (wp.float64(1.0) - share))
    wp.atomic_add(density, (low + 1) % cells, charge * share)


@wp.kernel
def gather(x: wp.array(dtype=wp.float64), grid: wp.array(dtype=wp.float64), here: wp.array(dtype=wp.float64)) -> None:
    """Interpolate the field at each electron."""
    i = wp.tid()
    cells = grid.shape[0]
    place = x[i] * wp.float64(cells) / wp.float64(6.283185307179586)
    low = wp.int32(wp.floor(place))
    share = place - wp.float64(low)
    here[i] = grid[low % cells] * (wp.float64(1.0) - share) + grid[(low + 1) % cells] * share


@hawk.kernel
def move(
    here: Scalar, dt: Param, length: Param, x: Mutable[Scalar], v: Mutable[Scalar], moving: Mutable[Scalar]
) -> None:
    """Kick and drift one electron, of charge -1 a unit of mass; it leaves the box on one side to enter on the other."""
    before = v
    v -= dt * here
    x = (x + dt * v) % length
    moving = 0.5 * before * v


@dataclass
class Plasma:
    """The electrons, and the graph of one step.

    Attributes
    ----------
    electrons, cells : int
    dt : float
        In units of the inverse plasma frequency.
    x, v : array, shape (electrons,)
    grid : array, shape (cells,)
        The field.
    energy : array, shape (1,)
        The kinetic energy per electron and step.
    graph : eagle.Graph
    """

    electrons: int = 20_000
    cells: int = 64
    dt: float = 0.05
    amplitude: float = 0.05
    x: Array = field(init=False)
    v: Array = field(init=False)
    graph: eagle.Graph = field(init=False)

    def __post_init__(self) -> None:
        at_rest = (np.arange(self.electrons) + 0.5) * LENGTH / self.electrons
        self.x = (at_rest + self.amplitude * np.cos(at_rest)) % LENGTH
        self.v, self.here, self.moving = (np.zeros(self.electrons) for _ in range(3))
        self.density, self.grid = np.zeros(self.cells), np.zeros(self.cells)
        self.energy = np.zeros(1)
        self.graph = self._graph()

    def _graph(self) -> eagle.Graph:
        charge = -self.cells / self.electrons  # so that ions of density 1 are neutralised
        x, density, grid, here = self.x, self.density, self.grid, self.here
        g = eagle.Graph()
        g.add_node(opaque(lambda: density.fill(1.0), writes={"density": density}), name="ions")
        g.add_node(eagle_warp.launch(deposit, self.electrons, inputs=[x, charge], outputs=[density]))
        g.add_node(opaque(self._solve, reads={"density": density}, writes={"grid": grid}), name="field")
        g.add_node(eagle_warp.launch(gather, self.electrons, inputs=[x, grid], outputs=[here]))
        g.add(eagle.deploy(move).bind(here=here, dt=self.dt, length=LENGTH, x=x, v=self.v, moving=self.moving))
        g.add_node(eagle.reduce(self.moving, self.energy), name="energy")
        return g.build()

    def _solve(self) -> None:
        """Solve dE/dx = density for a field without a mean, by Fourier's series."""
        waves = np.fft.rfft(self.density)
        number = np.arange(len(waves))
        waves[1:] /= 1j * number[1:]
        waves[0] = 0
        self.grid[:] = np.fft.irfft(waves, self.cells)

    def run(self, duration: float) -> tuple[Array, Array]:
        """Advance, and return times and the kinetic energy at each."""
        steps = round(duration / self.dt)
        energies = np.empty(steps)
        for step in range(steps):
            self.graph.launch()
            energies[step] = self.energy[0] / self.electrons
        return self.dt * (np.arange(steps) + 0.5), energies


def period(times: Array, energies: Array) -> float:
    """Return the period of the oscillation: kinetic energy has two maxima in one, found by parabolas through them."""
    tops = [
        t + (low - high) / (low - 2 * top + high) * (times[1] - times[0]) / 2
        for t, low, top, high in zip(times[1:], energies, energies[1:], energies[2:], strict=False)
        if low < top >= high
    ]
    return float(2 * np.mean(np.diff(tops)))


def main() -> None:
    """Run three periods and compare."""
    plasma = Plasma()
    print(plasma.graph)
    found = period(*plasma.run(3 * LENGTH))
    print(f"period {found:.4f}, in theory {LENGTH:.4f}")


if __name__ == "__main__":
    main()
