"""Kernels of loops that the tests of several frameworks run."""

from hawk import Mutable, Scalar, Terminated, kernel

__all__ = ["count_down", "fall"]


@kernel
def count_down(terminated: Terminated, left: Mutable[Scalar]):
    left -= 1.0
    terminated = left <= 0.0


@kernel
def fall(push: Scalar, terminated: Terminated, x: Mutable[Scalar]):
    x += push
    terminated = x >= 4.0
