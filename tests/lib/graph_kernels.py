"""Kernels of every kind of argument for random graphs: plain, masked, and those that can fault."""

from __future__ import annotations

import functools

import numpy as np

import eagle
import hawk
from eagle import Plan
from hawk import Bool, Index, Int32, Mutable, Param, Scalar, Table, Terminated, UInt32, Vector


@hawk.kernel
def scale(x: Scalar, factor: Param):
    return factor * x


@hawk.kernel
def affine(a: Scalar, x: Mutable[Scalar]):
    x = a * x + 1.0


@hawk.kernel
def exchange(a: Mutable[Scalar], b: Mutable[Scalar]):
    total = a + b
    b = a - b
    a = total


@hawk.kernel
def sum_and_difference(a: Scalar, b: Scalar):
    total = a + b
    difference = a - b
    return total, difference


@hawk.kernel
def length(v: Vector[3]):
    return (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5


@hawk.kernel
def spin(v: Mutable[Vector[3]], a: Scalar):
    v = [v[1] - a, v[2], -v[0]]


@hawk.kernel
def smooth(x: Mutable[Scalar]):
    x = np.sin(x) + 0.5


@hawk.kernel
def halve(x: Scalar, k: Int32, out: Mutable[Scalar]):
    left = min(max(k, 0), 5)
    while left > 0:
        out = 0.5 * out + x
        left -= 1
    if out > 4.0:
        out = 4.0 - x


@hawk.kernel
def mix(c: Mutable[Int32], k: Int32, u: UInt32):
    c = (c * 3 + k) ^ Int32(u >> 3)


@hawk.kernel
def negative(x: Scalar):
    return x < 0.0


@hawk.kernel
def choose(b: Bool, x: Scalar, y: Scalar):
    return x if b else y


@hawk.kernel
def toggle(b: Mutable[Bool], c: Bool):
    b = b != c


@hawk.kernel
def decay(x: Mutable[Scalar], rate: Scalar, terminated: Terminated):
    x *= 0.25 + 0.5 * rate
    terminated = x < 1.0


@hawk.kernel
def count_down(c: Mutable[Int32], terminated: Terminated):
    c -= 1
    terminated = c <= 0


@hawk.kernel
def watched(x: Scalar, terminated: Terminated, out: Mutable[Scalar]):
    out += x


@hawk.kernel
def divide(c: Int32, k: Int32):
    return c // k


@hawk.kernel
def truncate(x: Scalar):
    return int(x)


@hawk.kernel
def look_up(j: Index, table: Table[Scalar]):
    return table[j]


@functools.cache
def plans() -> tuple[Plan, ...]:
    """Each deployed, once."""
    kernels = (
        scale,
        affine,
        exchange,
        sum_and_difference,
        length,
        spin,
        smooth,
        halve,
        mix,
        negative,
        choose,
        toggle,
        decay,
        count_down,
        watched,
        divide,
        truncate,
        look_up,
    )
    return tuple(eagle.deploy(kernel) for kernel in kernels)
