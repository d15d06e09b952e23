"""Kernels whose CUDA C++ is kept as text: each has a construct of its own."""

from __future__ import annotations

import hawk
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Table, Terminated, Vector

SCALARS = {"turns": "float32"}


@hawk.kernel
def branches(x: Scalar, low: Param):
    if x < low:
        return -x
    return x * 0.1


@hawk.kernel
def searches(x: Scalar, n: Int32):
    found = 0
    while found < n:
        if x * found > 2.0:
            break
        found += 1
    return found


@hawk.kernel
def divides(i: Int32, j: Int32, grid: Table[Scalar, -1, 3], row: Index):
    quotient = i // j
    return quotient + grid[row, i % 3]


@hawk.kernel
def flags(a: Bool, b: Mutable[Bool], c: Scalar):
    b = (a and not b) or c == 1.5


@hawk.kernel(fma=True)
def gravity(r: Vector[2], mu: Param, a: Mutable[Vector[2]]):
    a += -mu * r


@hawk.kernel
def turns(v: Mutable[Vector[3]], angle: Scalar):
    v = [v[1] * angle, v[2] / 3.0, -v[0]]


@hawk.kernel
def decays(x: Mutable[Scalar], rate: Scalar, terminated: Terminated):
    x *= rate
    terminated = x < 1.0


@hawk.kernel
def constants(x: Scalar):
    smallest = x + 5e-324
    largest = x * 1.7976931348623157e308
    no_number = x - hawk.math.nan
    unbounded = x - hawk.math.inf
    tenth = x * 0.1
    return smallest, largest, no_number, unbounded, tenth
