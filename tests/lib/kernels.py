"""Kernels that several tests use."""

from __future__ import annotations

import math

import hawk
from hawk import Bool, Index, Int32, Matrix, Mutable, Param, Scalar, Table, Terminated, Vector


@hawk.kernel
def scale(x: Scalar, factor: Param):
    return factor * x


@hawk.kernel
def sine(x: Scalar):
    return math.sin(x)


@hawk.kernel
def bump(x: Mutable[Scalar]):
    x += 1.0


@hawk.kernel
def affine(a: Scalar, x: Mutable[Scalar]):
    x = a * x + 1.0


@hawk.kernel
def sum_and_difference(a: Scalar, b: Scalar):
    total = a + b
    difference = a - b
    return total, difference


@hawk.kernel
def length(v: Vector[3]):
    return (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5


@hawk.kernel
def turn(m: Matrix[2, 2], v: Mutable[Vector[2]]):
    v = m @ v


@hawk.kernel
def look_up(i: Index, table: Table[Scalar]):
    return table[i]


@hawk.kernel
def look_up_in_two_axes(i: Index, table: Table[Scalar, -1, -1]):
    return table[i, 0]


@hawk.kernel
def divide(a: Int32, b: Int32):
    return a // b


@hawk.kernel
def negate(flag: Bool):
    return not flag


@hawk.kernel
def count_down(left: Mutable[Int32], terminated: Terminated):
    left -= 1
    terminated = left <= 0


@hawk.kernel
def decay(x: Mutable[Scalar], rate: Scalar, terminated: Terminated):
    x *= rate
    terminated = x < 1.0


@hawk.kernel
def move(force: Scalar, terminated: Terminated, x: Mutable[Scalar]):
    x += force
    terminated = x < 1.0
