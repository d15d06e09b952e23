"""Types of mixed numbers, operators and functions: against NumPy on the same values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hawk

pytestmark = pytest.mark.host_only("one operation a kernel: tests/system/test_kernels.py has them all in a few")
X = np.array([-2.5, -1.0, -0.25, 0.0, 0.25, 0.5, 1.5, 2.5])
Y = np.array([3.0, -0.5, 0.75, 2.0, -1.25, 1.0, 2.0, -2.0])
I = np.array([-7, -3, -1, 0, 1, 2, 5, 2**31 - 1], dtype=np.int32)  # noqa: E741
J = np.array([3, -2, 5, 1, -1, 7, 2, -3], dtype=np.int64)
U = np.array([0, 1, 2, 3, 4, 5, 2**31, 2**32 - 1], dtype=np.uint32)
B = np.array([True, False] * 4)
i64, i32, u32, f64 = np.int64, np.int32, np.uint32, np.float64

EXPRESSIONS: dict[str, Any] = {
    "x + y": X + Y,
    "x - y": X - Y,
    "x * y": X * Y,
    "x / y": X / Y,
    "x // y": X // Y,
    "x % y": X % Y,
    "-x": -X,
    "+x": X,
    "x + i": X + I,
    "i / j": I / J,
    "i / 2": I / 2,
    "1 / j": 1 / J.astype(f64),
    "i + 1": I + i32(1),
    "i * i": I * I,
    "i + j": I + J,
    "i - u": I.astype(i64) - U.astype(i64),
    "u - 1": U - u32(1),
    "u + u": U + U,
    "i // 2": I // i32(2),
    "i % 3": I % i32(3),
    "i % -3": I % i32(-3),
    "j // i if i != 0 else 0": [a // int(b) if b else 0 for a, b in zip(J.tolist(), I, strict=True)],
    "i + 4294967296": I.astype(i64) + 4294967296,
    "u * -1": -U.astype(i64),
    "b + b": B.astype(i32) * i32(2),
    "b * x": B * X,
    "b + 1": B.astype(i32) + i32(1),
    "-b": -B.astype(i32),
    "i & 5": I & i32(5),
    "i | u": I.astype(i64) | U.astype(i64),
    "i ^ i": I ^ I,
    "~i": ~I,
    "b & (x > 0)": B & (X > 0),
    "b ^ True": ~B,
    "i << 3": (I.astype(i64) << 3).astype(i32),
    "i >> 1": I >> 1,
    "u >> 40": U * 0,
    "x ** 2": X * X,
    "x ** 3": X * X * X,
    "x ** 5": (X * X) * (X * X) * X,
    "x ** 7": ((X * X) * X) * ((X * X) * X) * X,
    "x ** 0": np.ones(8),
    "y ** -2": 1 / (Y * Y),
    "i ** 2": I * I,
    "j ** -1": 1 / J.astype(f64),
    "abs(x) ** y": np.abs(X) ** Y,
    "abs(x) ** 2.0": np.power(np.abs(X), 2.0),
    "2 ** 10 * x": 1024 * X,
    "2 ** -1 * x": 0.5 * X,
    "x < y": X < Y,
    "i == j": I == J,
    "i < u": I.astype(i64) < U.astype(i64),
    "b == True": B,
    "b < 1": ~B,
    "x != x": X != X,
    "not x": X == 0,
    "1 < 2": np.full(8, True),
    "7 // 2 + 7 % 4": np.full(8, 6),
    "-7 // 2": np.full(8, -4),
    "min(x, y)": np.minimum(X, Y),
    "max(x, y, 0)": np.maximum(np.maximum(X, Y), 0),
    "max(i, 0)": np.maximum(I, i32(0)),
    "max(i, 0.5)": np.maximum(I, 0.5),
    "abs(i)": np.abs(I),
    "int(x)": np.trunc(X).astype(i64),
    "int(i)": I.astype(i64),
    "float(i)": I.astype(f64),
    "bool(x)": X != 0,
    "Int32(x)": np.trunc(X).astype(i32),
    "UInt32(i)": I.astype(u32),
    "Index(u)": U.astype(i64),
    "Scalar(b)": B.astype(f64),
    "Bool(i)": I != 0,
    "np.int32(u)": U.astype(i32),
    "round(x)": np.rint(X),
    "np.round(x)": np.rint(X),
    "math.floor(x)": np.floor(X),
    "np.ceil(x)": np.ceil(X),
    "math.trunc(x)": np.trunc(X),
    "math.copysign(x, y)": np.copysign(X, Y),
    "np.fmod(x, y)": np.fmod(X, Y),
    "np.sin(x)": np.sin(X),
    "math.sin(i)": np.sin(I.astype(f64)),
    "hawk.math.cos(x)": np.cos(X),
    "np.arctan2(x, y)": np.arctan2(X, Y),
    "math.hypot(x, y)": np.hypot(X, Y),
    "math.sqrt(abs(x))": np.sqrt(np.abs(X)),
    "np.exp(x)": np.exp(X),
    "math.log(abs(y), 2)": np.log(np.abs(Y)) / np.log(2.0),
    "math.erf(x)": [math.erf(v) for v in X],
    "np.where(x > 0, x, i)": np.where(X > 0, X, I),
    "hawk.math.clamp(x, -1, 1.0)": np.clip(X, -1, 1),
    "np.clip(i, -2, 2)": np.clip(I, -2, 2),
    "hawk.math.fma(x, y, 1)": X * Y + 1,
    "np.isnan(x / 0)": [False, False, False, True, False, False, False, False],
    "math.isinf(x / 0)": X != 0,
    "math.isfinite(x / 0)": np.full(8, False),
    "np.sign(x)": np.sign(X),
    "np.square(x)": X * X,
    "math.radians(x)": X * (math.pi / 180),
    "np.degrees(x)": X * (180 / math.pi),
    "pow(x, 2)": X * X,
    "np.power(x, 3)": X * X * X,
    "math.pow(x, 2)": X * X,
    "np.logical_and(b, x > 0)": B & (X > 0),
    "x * math.pi": X * math.pi,
    "x + np.inf": X + np.inf,
    "x * 1e-300 * 1e-10": X * 1e-300 * 1e-10,
    "x + True": X + 1,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_has_the_value_and_type_of_numpy(
    text: str, define: Callable[..., Any], run: Callable[..., Any]
) -> None:
    module = define(f"""
        @hawk.kernel
        def kernel(x: Scalar, y: Scalar, i: Int32, j: Index, u: UInt32, b: Bool):
            return {text}
    """)
    with np.errstate(all="ignore"):
        results = run(module.kernel, x=X, y=Y, i=I, j=J, u=U, b=B)
    expected = np.asarray(EXPRESSIONS[text])
    assert results.fault is None
    assert results["out"].dtype == expected.dtype
    assert np.array_equal(results["out"], expected, equal_nan=expected.dtype.kind == "f")


def test_float32_plans_compute_in_float32(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar, i: Int32, p: Param):
            return x * 0.1 + p, i / 3, x ** 3, np.pi
    """)
    x = np.array([0.1, 1.7], dtype=np.float32)
    results = run(module.kernel, "float32", x=x, i=[1, 7], p=0.3)
    f = np.float32
    assert results["out0"].tolist() == (x * f(0.1) + f(0.3)).tolist()
    assert results["out1"].tolist() == (np.array([1, 7], f) / f(3)).tolist()
    assert results["out2"].tolist() == (x * x * x).tolist()
    assert results["out3"].tolist() == [f(np.pi)] * 2
    assert {results[name].dtype for name in results if name.startswith("out")} == {np.dtype(f)}


@pytest.mark.parametrize(
    ("text", "x", "i", "error"),
    [
        ("int(x)", math.nan, 0, OverflowError),
        ("int(x)", 1e19, 0, OverflowError),
        ("Int32(x)", 3e9, 0, OverflowError),
        ("7 // i", 0.0, 0, ZeroDivisionError),
        ("i % i", 0.0, 0, ZeroDivisionError),
    ],
)
def test_what_faults_names_its_line(
    text: str, x: float, i: int, error: type[Exception], define: Callable[..., Any], run: Callable[..., Any]
) -> None:
    module = define(f"""
        @hawk.kernel
        def kernel(x: Scalar, i: Int32):
            return {text}
    """)
    results = run(module.kernel, x=[1.0, x], i=[1, i])
    assert (results.fault.sample, results.fault.error) == (1, error)
    site = module.kernel.code.sites[results.fault.site]
    assert (site.line, site.text) == (8, f"return {text}")


def test_params_have_the_type_asked_for(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar, n: Param[Int32], on: Param[Bool], p: Param):
            return x * n if on else p
    """)
    assert [one.dtype for one in module.kernel.signature[1:4]] == ["int32", "bool", "float64"]
    assert run(module.kernel, x=[1.5], n=3, on=True, p=0.5)["out"].tolist() == [4.5]
    assert run(module.kernel, x=[1.5], n=3, on=False, p=0.5)["out"].tolist() == [0.5]


def test_writing_in_place_wraps_whole_numbers(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(i: Mutable[Int32], u: Mutable[UInt32], x: Mutable[Scalar]):
            i = i + 2147483648
            u -= 1
            x = 3
    """)
    results = run(module.kernel, i=[1], u=[0], x=[0.5])
    assert (results["i"].tolist(), results["u"].tolist(), results["x"].tolist()) == ([1 - 2**31], [2**32 - 1], [3.0])


FUSED = {
    "x * y + i": "fma(x, y, i)",
    "x * y - i": "fma(x, y, -i)",
    "i - x * y": "fma(-x, y, i)",
    "i + x * y": "fma(x, y, i)",
    "x * y + y * i": "fma(x, y, y * i)",
    "x * y - y * i": "fma(x, y, -(y * i))",
    "i * i + x": "i * i + x",
    "x + y": "x + y",
    "2 * x * y + 1": "fma(2 * x, y, 1)",
}


@pytest.mark.parametrize("text", FUSED)
def test_fma_rewrites_sums_of_products(text: str, define: Callable[..., Any]) -> None:
    module = define(f"""
        from hawk.math import fma

        @hawk.kernel(fma=True)
        def fused(x: Scalar, y: Scalar, i: Int32):
            return {text}

        @hawk.kernel
        def written(x: Scalar, y: Scalar, i: Int32):
            return {FUSED[text]}

        @hawk.kernel(fma=True)
        def augmented(x: Scalar, y: Scalar, z: Mutable[Scalar]):
            z += x * y
            z -= x * x

        @hawk.kernel
        def spelled(x: Scalar, y: Scalar, z: Mutable[Scalar]):
            z = fma(x, y, z)
            z = fma(-x, x, z)
    """)

    def ops(kernel: hawk.KernelFunction) -> list[str]:
        ops = [str(getattr(one, "op", "")) for one in kernel.code.body.instructions]
        return sorted(op for op in ops if op not in ("", "convert"))

    assert ops(module.fused) == ops(module.written)
    assert module.augmented.__eagle_kernel__().fingerprint == module.spelled.__eagle_kernel__().fingerprint


def test_the_functions_work_outside_kernels_too() -> None:
    m = hawk.math
    assert m.sin(0.5) == np.sin(0.5)
    assert m.erf(0.5) == math.erf(0.5)
    assert m.erf(np.array([0.5, 1.0])).tolist() == [math.erf(0.5), math.erf(1.0)]
    assert m.fma(1 + 2.0**-30, 1 - 2.0**-30, -1.0) == -(2.0**-60)
    assert m.clamp(5.0, 0.0, 1.0) == 1.0
    assert m.norm(np.array([3.0, 4.0])) == 5.0
    assert m.dot(np.ones(3), np.ones(3)) == 3.0


def test_every_function_of_hawk_math_can_be_called(define: Callable[..., Any]) -> None:
    functions = {name: thing for name, thing in vars(hawk.math).items() if isinstance(thing, hawk.math.MathFunction)}
    three, two = {"where", "fma", "clamp"}, {"atan2", "pow", "hypot", "copysign", "fmod", "minimum", "maximum"}
    lines = []
    for name in functions:
        if name in ("dot", "cross", "norm"):
            arguments = "v" if name == "norm" else "v, v"
        else:
            arguments = ", ".join("xxx"[: 3 if name in three else 2 if name in two else 1])
        lines.append(f"    r_{name} = hawk.math.{name}({arguments})")
    lines.append(f"    return {', '.join(f'r_{name}' for name in functions)}")
    body = "\n".join(lines)
    module = define(f"@hawk.kernel\ndef kernel(x: Scalar, v: Vector[3]):\n{body}\n")
    assert len(module.kernel.signature) == 2 + len(functions) >= 45
