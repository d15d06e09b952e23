"""What some kernels become, as text; and what their fingerprints depend on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_ir import to_text

KERNELS = """
MU = 2.0

def clipped(a, low=0):
    if a < low:
        return low
    return a

@hawk.kernel
def oscillator(omega: Scalar, t_end: Param, dt: Param, terminated: Terminated,
               x: Mutable[Scalar], v: Mutable[Scalar], t: Mutable[Scalar]):
    x0, v0 = x, v
    x = x0 + dt * v0
    v = v0 - dt * omega * omega * x0
    t += dt
    terminated = t >= t_end

@hawk.kernel(fma=True)
def gravity(r: Vector[3], a: Mutable[Vector[3]]):
    d = hawk.math.norm(r)
    a += -MU * r / d ** 3

@hawk.kernel
def branches(x: Scalar, n: Int32, t: Table[Scalar, -1, 2]):
    y = 0
    if x > 0 and n // 2 > 1:
        y = t[n, 1]
    elif x < -1:
        return clipped(x)
    return y + (1 if n > 3 else 2)

@hawk.kernel
def loops(x: Scalar, n: Int32):
    s = 0
    for i in range(n):
        if i % 2 == 1:
            continue
        s += x * i
        if s > 100:
            return -1.0
    return s

@hawk.kernel
def picks(v: Vector[2], M: Matrix[2, 2]):
    w = M @ v
    for i in range(2):
        w[i] = w[i] + i
    return w, x_of(w)

def x_of(w):
    return w[0]

@hawk.kernel
def whole(i: Int32, u: UInt32, b: Bool, c: Mutable[Int32]):
    c = int(i / u) + b
    return i + u > 4000000000
"""
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["oscillator", "gravity", "branches", "loops", "picks", "whole"])
def test_the_text_of_a_kernel(name: str, define: Callable[..., Any]) -> None:
    text = to_text(getattr(define(KERNELS), name).code)
    assert text == (GOLDEN / f"{name}.txt").read_text()


BODY = """
K = {k}

@hawk.kernel
def {name}({x}: Scalar, y: Mutable[{kind}]):
    {local} = {x} * K
    y = {local} + {add}
"""
PLAIN = {"k": "2.0", "name": "kernel", "x": "x", "kind": "Scalar", "local": "z", "add": "1.0"}


def fingerprint(define: Callable[..., Any], before: str = "", **changes: str) -> str:
    values = PLAIN | changes
    made = getattr(define(before + BODY.format(**values)), values["name"]).__eagle_kernel__()
    assert isinstance(made.fingerprint, str)
    return made.fingerprint


def test_a_fingerprint_does_not_depend_on_names_and_places(define: Callable[..., Any]) -> None:
    plain = fingerprint(define)
    assert fingerprint(define, name="other") == plain
    assert fingerprint(define, x="position", local="w") == plain
    assert fingerprint(define, before="\n\n# further down\n") == plain
    assert fingerprint(define, k="(1 + 1) * 1.0") == fingerprint(define, k="2") == plain


def test_a_fingerprint_depends_on_constants_and_types(define: Callable[..., Any]) -> None:
    found = {
        fingerprint(define),
        fingerprint(define, k="3.0"),
        fingerprint(define, add="x"),
        fingerprint(define, add="1.5"),
        fingerprint(define, add="-1.0"),
    }
    assert len(found) == 5
    module = define(BODY.format(**PLAIN))
    single = module.kernel.__eagle_kernel__("float32").fingerprint
    assert single not in found
