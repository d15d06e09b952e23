"""A policy of torch holds pendulums upright, in closed loop with a plant of hawk.

The loop is built once: each step the policy reads the state of every pendulum and gives a push, and the plant takes
one step with it, until a pendulum has fallen. The policy is then trained, by gradients through a copy of the plant in
torch; its weights are updated in place, so that the same loop runs with what was learned.

A pendulum of length g m about its upright position: d2(angle)/dt2 = sin(angle) * G + push, in rad/s^2, with G = 9.81.

Run it with ``python examples/torch_policy.py [PENDULUMS] [PLOT.svg]``; it needs torch and eagle-torch.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
import torch

import eagle
from eagle.frameworks.torch import module
from hawk import Mutable, Param, Scalar, Terminated, kernel

G = 9.81  # rad/s^2
DT = 0.02  # s
STRONGEST = 15.0  # rad/s^2
STEPS = 300
FALLEN = 1.0  # rad
HORIZON = 25  # steps of a run that the policy is trained over


@kernel
def pendulum(push: Scalar, dt: Param, fallen: Terminated, angle: Mutable[Scalar], speed: Mutable[Scalar]):  # noqa: ANN201
    """One step of the semi-implicit Euler method, for one pendulum."""
    speed += dt * (G * math.sin(angle) + push)
    angle += dt * speed
    fallen = abs(angle) > FALLEN


class Policy(torch.nn.Module):
    """A push for each pendulum, from its angle and speed."""

    def __init__(self) -> None:
        super().__init__()
        sizes = (2, 16, 1)
        self.inner = torch.nn.Linear(sizes[0], sizes[1], dtype=torch.float64)
        self.outer = torch.nn.Linear(sizes[1], sizes[2], dtype=torch.float64)

    def forward(self, angle: Any, speed: Any) -> Any:
        """Return the pushes, shape (n,), in rad/s^2."""
        hidden = torch.tanh(self.inner(torch.stack((angle, speed), dim=1)))
        return STRONGEST * torch.tanh(self.outer(hidden)).squeeze(1)


class ClosedLoop:
    """Pendulums under a policy, from the same start each time.

    Attributes
    ----------
    angle, speed : tensor of float64, shape (n,)
        In rad and rad/s; the planes of the loop.
    """

    def __init__(self, policy: Policy, pendulums: int, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.start = 0.4 * torch.randn(2, pendulums, dtype=torch.float64, generator=generator).clamp(-2, 2)
        self.angle, self.speed = self.start.clone()
        push = torch.zeros(pendulums, dtype=torch.float64)
        control = module(policy, reads={"angle": self.angle, "speed": self.speed}, writes={"push": push})
        plant = eagle.deploy(pendulum, steps=1)
        self.runner = eagle.until_done([control, plant], push=push, dt=DT, angle=self.angle, speed=self.speed)

    def run(self) -> tuple[np.ndarray[Any, Any], int]:
        """Run from the start; return the angles, shape (STEPS + 1, n), and how many pendulums stand at the end."""
        self.angle.copy_(self.start[0])
        self.speed.copy_(self.start[1])
        self.runner.reset()
        angles = [self.angle.numpy().copy()]
        for _ in range(STEPS):
            report = self.runner.run(max_steps=1)
            angles.append(self.angle.numpy().copy())
        return np.array(angles), report.samples - report.finished


def train(policy: Policy, iterations: int = 40, seed: int = 1) -> float:
    """Train by gradients through the plant, over short runs from random states; return the last mean cost."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    policy.train()
    for _ in range(iterations):
        angle, speed = torch.randn(2, 128, dtype=torch.float64, generator=generator)
        cost = torch.zeros((), dtype=torch.float64)
        for _ in range(HORIZON):
            push = policy(angle, speed)
            speed = speed + DT * (G * torch.sin(angle) + push)
            angle = angle + DT * speed
            cost = cost + (angle.square() + 0.1 * speed.square()).clamp(max=4.0).mean()
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
    policy.eval()
    return cost.item() / HORIZON


def plot(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any], path: str) -> None:
    """Draw the angles of some pendulums, before and after the training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, angles, title in zip(axes, (before, after), ("before the training", "after it"), strict=True):
        axis.plot(np.arange(STEPS + 1) * DT, np.degrees(angles[:, :40]), linewidth=0.7, alpha=0.7)
        axis.set(title=title, xlabel="time (s)", ylim=(-75, 75))
    axes[0].set_ylabel("angle (degrees)")
    figure.savefig(path)


def main(pendulums: int = 1000, path: str | None = None) -> tuple[int, int]:
    """Run, train, run again; return how many pendulums stood before and after."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # of the training, whose tensors are small; the plant has its own
    policy = Policy().eval()
    loop = ClosedLoop(policy, pendulums)
    before, stood = loop.run()
    started = time.perf_counter()
    cost = train(policy)
    print(f"trained in {time.perf_counter() - started:.1f} s, mean cost {cost:.3f}")
    after, stands = loop.run()
    print(f"{stood} of {pendulums} pendulums stood for {STEPS * DT:.0f} s before the training, {stands} after it")
    if path is not None:
        plot(before, after, path)
        print(f"drawn to {path}")
    return stood, stands


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2] if len(sys.argv) > 2 else None)
