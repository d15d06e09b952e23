"""Helpers, other kernels, constants of the surroundings."""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hawk


def test_helpers_are_inlined_with_defaults_keywords_and_early_returns(
    define: Callable[..., Any], run: Callable[..., Any]
) -> None:
    module = define("""
        SCALE = 3.0

        def scaled(x, by=2.0, *, offset=1):
            if x < 0:
                return 0.0
            for i in range(3):
                if x + i > 4:
                    return x + i
            return x * by * SCALE + offset

        def pair(x, y):
            x = x + 1
            return x, y

        @hawk.kernel
        def kernel(x: Scalar):
            a = scaled(x)
            b = scaled(x, by=x, offset=0)
            c, d = pair(y=x, x=2 * x)
            return a, b, c, d
    """)
    results = run(module.kernel, x=[-1.0, 1.0, 3.5])
    for name, expected in {
        "a": [module.scaled(x) for x in (-1.0, 1.0, 3.5)],
        "b": [module.scaled(x, by=x, offset=0) for x in (-1.0, 1.0, 3.5)],
        "c": [-1.0, 3.0, 8.0],
        "d": [-1.0, 1.0, 3.5],
    }.items():
        assert results[name].tolist() == expected


def test_a_helper_uses_its_own_surroundings(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        def make(k):
            def helper(x):
                return x * k
            return helper

        double, triple = make(2), make(3.0)

        class Units:
            km = 1000.0

        @hawk.kernel
        def kernel(x: Scalar):
            return double(x) + triple(x) * Units.km
    """)
    assert run(module.kernel, x=[1.5])["out"].tolist() == [3.0 + 4.5 * 1000]


def test_kernels_call_kernels(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def push(x: Mutable[Scalar], v: Scalar, dt: Param):
            x += v * dt

        @hawk.kernel
        def length(v: Vector[2]):
            return math.sqrt(v @ v)

        @hawk.kernel
        def look(i: Index, t: Table[Scalar]):
            return t[i]

        @hawk.kernel
        def kernel(x: Mutable[Scalar], v: Mutable[Vector[2]], n: Int32, table: Table[Scalar]):
            for k in range(n):
                push(x, v[0], 0.5)
                push(dt=1, x=x, v=length(v))
            y = x
            push(y, 1, 1)
            v[0] = look(n, table) + y
    """)
    results = run(module.kernel, x=[1.0], v=[[3.0], [4.0]], n=[2], table=[0.0, 0.0, 0.25])
    assert results["x"].tolist() == [1 + 2 * (1.5 + 5)]
    assert results["v"].ravel().tolist() == [0.25 + 15.0, 4.0]


def test_constants_of_every_kind(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        from types import SimpleNamespace

        MU, N, ON = 398600.4418, 3, True
        WEIGHTS = np.array([1.0, 2.0, 4.0])
        LIST, NESTED = [1, 2], ((1.0, 2.0), 3.0)
        EARTH = SimpleNamespace(radius=np.float64(6378.0), zones=np.int32(4))

        def outer(gain):
            @hawk.kernel
            def kernel(x: Scalar):
                y = x ** N * gain if ON else x
                s = 0.0
                for i in range(N):
                    s += WEIGHTS[i]
                for i in range(len(LIST)):
                    s += LIST[i]
                return y + MU + s + NESTED[0][1] + EARTH.radius ** EARTH.zones + np.e
            return kernel

        kernel = outer(np.float32(0.5))
    """)
    results = run(module.kernel, x=[2.0])
    zones = (6378.0 * 6378.0) * (6378.0 * 6378.0)
    assert results["out"].tolist() == [2.0**3 * 0.5 + 398600.4418 + 10.0 + 2.0 + zones + np.e]


def test_a_constant_is_kept_from_its_first_use_on(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        K = 2.0
        ARRAY = np.array([1.0])

        def helper(x):
            return x * K

        @hawk.kernel
        def kernel(x: Scalar):
            return helper(x) + ARRAY[0] * np.float64(1)
    """)
    module.K = 3.0
    assert run(module.kernel, x=[1.0])["out"].tolist() == [4.0]
    module.K = 5.0
    module.ARRAY[0] = 7.0
    assert run(module.kernel, x=[1.0])["out"].tolist() == [4.0]
    with pytest.raises(hawk.KernelError, match="a float64 array in a float32 plan"):
        module.kernel.__eagle_kernel__("float32")


def test_functions_are_recognised_whatever_they_are_called(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        from math import cos as sin
        from numpy import sin as cos
        from hawk import math as m
        import numpy
        absolute = abs

        @hawk.kernel
        def kernel(x: Scalar):
            return cos(x), sin(x), m.exp(x), absolute(numpy.tan(x))
    """)
    results = run(module.kernel, x=[2.0])
    assert [results[f"out{k}"][0] for k in range(4)] == [np.sin(2.0), np.cos(2.0), np.exp(2.0), abs(np.tan(2.0))]


def test_a_kernel_is_not_called_as_a_function(define: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar):
            return x
    """)
    with pytest.raises(hawk.KernelUseError, match=r"eagle\.deploy\(kernel\).*eagle\.simulate"):
        module.kernel(1.0)
    with pytest.raises(TypeError, match="converts inside kernels only"):
        hawk.Int32(1.5)
    with pytest.raises(TypeError, match=r"numpy\.array"):
        hawk.vector(1.0)


def test_helpers_may_be_defined_after_the_kernel(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar):
            return later(x)

        def later(x):
            return 2 * x
    """)
    assert run(module.kernel, x=[1.0])["out"].tolist() == [2.0]


def test_outputs_are_named_after_what_is_returned(define: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def names(x: Scalar):
            a = x
            b = [x, x]
            if x > 0:
                return a, b
            a = 2 * x
            return a, b

        @hawk.kernel
        def numbers(x: Scalar):
            return x, x + 1, True

        @hawk.kernel
        def masked(x: Scalar, terminated: Terminated):
            terminated = x > 0
            return x
    """)
    assert [(one.name, one.mode, one.total, one.shape) for one in module.names.signature[1:]] == [
        ("a", "w", True, ()),
        ("b", "w", True, (2,)),
    ]
    assert [(one.name, one.dtype) for one in module.numbers.signature[1:]] == [
        ("out0", "float64"),
        ("out1", "float64"),
        ("out2", "bool"),
    ]
    assert [(one.name, one.mode, one.total) for one in module.masked.signature[1:]] == [
        ("terminated", "rw", False),
        ("out", "w", False),
    ]


def test_what_is_returned_may_be_annotated(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def one(i: Int32) -> Scalar:
            return i + 1

        @hawk.kernel
        def two(i: Index) -> tuple[Int32, Vector[2]]:
            return i, 0

        @hawk.kernel
        def wrong(x: Scalar) -> Int32:
            return x

        @hawk.kernel
        def plain(x: Scalar) -> float:
            return x
    """)
    assert module.one.signature[1].dtype == "float64"
    assert [(one.dtype, one.shape) for one in module.two.signature[1:]] == [("int32", ()), ("float64", (2,))]
    assert run(module.two, i=[2**32 + 5])["out0"].tolist() == [5]
    assert module.plain.signature[1].dtype == "float64"
    with pytest.raises(hawk.KernelError, match=r"'out' is Int32 and cannot hold a Scalar\. Convert it: int\(x\)"):
        module.wrong.__eagle_kernel__()


def test_a_kernel_in_a_loop_writes_whatever_it_is_called_by(
    define: Callable[..., Any], run: Callable[..., Any]
) -> None:
    module = define("""
        @hawk.kernel
        def push(x: Mutable[Scalar]):
            x += 1

        @hawk.kernel
        def first(x: Scalar, n: Int32, t: Table[Scalar]):
            step = push
            y = 0
            for i in range(n):
                step(y)
                if i > 2:
                    y = y + at(t, i - 3)
            return y

        def at(table, i):
            return table[i]

        @hawk.kernel
        def second(x: Mutable[Scalar]):
            if x > 0 and returning(x) > 3:
                x = 0

        @hawk.kernel
        def third(x: Mutable[Scalar]):
            while returning(x) < 3:
                pass

        @hawk.kernel
        def returning(x: Mutable[Scalar]):
            x += 1
            return x
    """)
    assert run(module.first, x=[0.0] * 2, n=[2, 5], t=[10.0, 20.0])["out"].tolist() == [2.0, 35.0]
    for name in ("second", "third"):
        with pytest.raises(hawk.KernelError, match=r"in a condition or a choice writes 'x'.*a line of its own"):
            getattr(module, name).__eagle_kernel__()


def test_many_threads_get_one_kernel(define: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar):
            s = 0.0
            for i in range(10):
                s += x
            return s
    """)
    with ThreadPoolExecutor(64) as pool:
        made = list(pool.map(lambda _: module.kernel.__eagle_kernel__(), range(256)))
    assert len({id(one) for one in made}) == 1


@hawk.kernel
def module_level(x: hawk.Scalar):
    return x


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert copy.deepcopy(module_level) is module_level
    assert module_level.__reduce__() == "module_level"


def test_a_star_import_leaves_the_math_module_alone() -> None:
    assert "math" not in hawk.__all__
    assert hawk.math.sin is not None
