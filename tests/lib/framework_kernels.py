"""Kernels that the tests of several frameworks run."""

from hawk import Mutable, Scalar, Table, Terminated, kernel

__all__ = ["count_down", "fall", "twice", "weigh"]


@kernel
def count_down(terminated: Terminated, left: Mutable[Scalar]):
    left -= 1.0
    terminated = left <= 0.0


@kernel
def fall(push: Scalar, terminated: Terminated, x: Mutable[Scalar]):
    x += push
    terminated = x >= 4.0


@kernel
def twice(w: Scalar):
    return 2.0 * w


@kernel
def weigh(weights: Table[Scalar], x: Mutable[Scalar]):
    x = weights[0] + weights[2]
