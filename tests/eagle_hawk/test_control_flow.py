"""Branches and loops: the same values as Python gives, path by path."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

X = np.array([-3.0, -1.0, 0.0, 0.5, 2.0, 7.0])
N = np.array([-2, 0, 1, 3, 6, 11], dtype=np.int32)

PROGRAMS = {
    "if elif else": """
        if x < 0:
            y = -x
        elif x > 1:
            y = x * 2
        else:
            y = 10.0
        return y
        """,
    "an if without else keeps what was": """
        y = x
        if n > 2:
            y = y + 100.0
        return y
        """,
    "whole then float": """
        y = 1
        if x > 0:
            y = x
        return y
        """,
    "early return": """
        if x < 0:
            return 0.0
        y = math.sqrt(x)
        return y
        """,
    "early return nested": """
        if x > -2:
            if n > 2:
                return 1.0
            y = 2.0
        else:
            y = 3.0
        return y + x
        """,
    "every path returns": """
        if x < 0:
            return -1.0
        elif n > 2:
            return 1.0
        else:
            return x
        """,
    "while": """
        y = x
        k = 0
        while y < 50 and k < n:
            y = y * 2 + 1
            k += 1
        return y + k
        """,
    "a loop widens a whole number": """
        s = 0
        for i in range(n):
            s += x * i
        return s
        """,
    "range with a start": """
        s = 0
        for i in range(2, n):
            s = s * 3 + i
        return s
        """,
    "range downwards": """
        s = 0
        for i in range(n, -1, -2):
            s = s * 2 + i
        return s
        """,
    "range with a step from a plane": """
        s = 0
        for i in range(0, 10, n * n + 1):
            s = s * 11 + i
        return s
        """,
    "range downwards with a step from a plane": """
        s = 0
        for i in range(10, -3, -(n * n + 1)):
            s = s * 11 + i
        return s
        """,
    "the variable of a loop afterwards": """
        for i in range(4):
            y = x + i
        return y + i
        """,
    "assigning the variable of a loop": """
        s = 0
        for i in range(5):
            i = i * 10
            s += i
        return s + i
        """,
    "break": """
        s = 0.0
        for i in range(n):
            if s > 3:
                break
            s += x + i
        return s
        """,
    "continue": """
        s = 0
        for i in range(n):
            if i % 3 == 1:
                continue
            s += i
        return s
        """,
    "break and continue": """
        s = 0
        k = 0
        while True:
            k += 1
            if k % 2 == 0:
                continue
            if k > n:
                break
            s += k
        return s
        """,
    "return in a loop": """
        for i in range(n):
            if i * i > x * 3:
                return i
        return -1
        """,
    "return in nested loops": """
        for i in range(n):
            for j in range(i):
                if i * j > 5 + x:
                    return i * 100 + j
            if i > 8:
                break
        return x
        """,
    "return out of an endless loop": """
        y = 1.0
        while True:
            y = y * 2
            if y > x * x + 3:
                return y
        """,
    "break out of the inner loop only": """
        s = 0
        for i in range(4):
            for j in range(n):
                if j > i:
                    break
                s += 10 * i + j
        return s
        """,
    "conditional expressions": """
        return (x if x > 0 else -x) if n > 1 else (7 if n == 0 else x)
        """,
    "and or not": """
        y = 0
        if x > 0 and n > 2 or not x < 2:
            y = 1
        return y + (2 if (x < 0 or n == 3) and not n == 0 else 0)
        """,
    "chains": """
        return 1 if -1 < x <= 2 != n else (2 if 0 <= n < 3 < 4 else 3)
        """,
    "pass and a docstring": '''
        """Nothing much."""
        if x > 0:
            pass
        else:
            ...
        return x
        ''',
    "constant conditions": """
        if True:
            y = x
        else:
            y = undefined_on_purpose
        while False:
            y = 1.0
        for i in range(0):
            y = 2.0
        return y
        """,
    "swap": """
        a, b = x, n
        a, b = b, a
        (c, d), e = (a, b), 1
        return a * 100 + b + c + d + e
        """,
    "chained assignment": """
        a = b = x
        a += 1
        return a * b
        """,
    "augmented": """
        y = x
        y += 2
        y -= n
        y *= 3
        y /= 4
        y **= 2
        y //= 2
        y %= 5
        return y
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_kernel_computes_what_the_function_does(
    name: str, define: Callable[..., Any], run: Callable[..., Any]
) -> None:
    module = define(f"@hawk.kernel\ndef kernel(x: Scalar, n: Int32):{PROGRAMS[name]}")
    results = run(module.kernel, x=X, n=N)
    assert results.fault is None
    function: FunctionType = module.kernel.function
    assert results["out"].tolist() == [function(x, int(n)) for x, n in zip(X.tolist(), N, strict=True)]


def test_the_right_side_of_and_is_not_computed_in_vain(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(n: Int32):
            a = n != 0 and 6 // n == 2
            b = n == 0 or 6 // n == 2
            c = 6 // n if n != 0 else -1
            d = 0 < n < 7 // n
            return a, b, c, d
    """)
    results = run(module.kernel, n=[0, 3, 1])
    assert results.fault is None
    assert results["a"].tolist() == [False, True, False]
    assert results["b"].tolist() == [True, True, False]
    assert results["c"].tolist() == [-1, 2, 6]
    assert results["d"].tolist() == [False, False, True]


def test_a_step_of_zero_faults(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(n: Int32):
            s = 0
            for i in range(0, 5, n):
                s += 1
            return s
    """)
    results = run(module.kernel, n=[2, 0])
    assert results.fault is not None
    assert (results.fault.sample, results.fault.error) == (1, ZeroDivisionError)


def test_a_mutable_keeps_what_it_had_at_an_early_return(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Mutable[Scalar], n: Mutable[Int32]):
            x = x + 1
            if x > 2:
                n = 7
                return
            x = x * 10
            for i in range(3):
                n += 1
                if n > 5:
                    return
            x = -x
    """)
    results = run(module.kernel, x=[0.0, 5.0, 1.0], n=[0, 0, 4])
    assert results["x"].tolist() == [-10.0, 6.0, 20.0]
    assert results["n"].tolist() == [3, 7, 6]


def test_a_loop_that_changes_the_type_of_several_variables_ends(
    define: Callable[..., Any], run: Callable[..., Any]
) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar, n: Int32):
            a = 0
            b = 0
            c = False
            for i in range(3):
                a, b, c = b, c, x > i
                b = b + n
            a = a * x
            return a, b
    """)
    results = run(module.kernel, x=[1.5], n=[4])
    assert results["a"].dtype == np.float64
    assert results["b"].tolist() == [5]
