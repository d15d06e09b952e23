"""Vectors, matrices and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

V = np.array([[1.0, -2.0], [3.0, 0.5], [-1.0, 4.0]])
W = np.array([[0.5, 2.0], [-1.0, 1.5], [2.0, -3.0]])
M = np.arange(12.0).reshape(6, 2) - 3.5
A = M.T.reshape(2, 2, 3)

EXPRESSIONS: dict[str, Any] = {
    "v + w": V + W,
    "v * w - 2": V * W - 2,
    "x / v": np.array([2.0, 3.0]) / V,
    "-v": -V,
    "v ** 2": V * V,
    "v[0] + v[-1]": V[0] + V[2],
    "v[1:]": V[1:],
    "v[::-1]": V[::-1],
    "[v[2], x, 1]": np.array([V[2], [2.0, 3.0], [1.0, 1.0]]),
    "np.array([x, 2])": np.array([[2.0, 3.0], [2.0, 2.0]]),
    "hawk.vector(x, 0.5)": np.array([[2.0, 3.0], [0.5, 0.5]]),
    "v @ w": V[0] * W[0] + V[1] * W[1] + V[2] * W[2],
    "np.dot(v, w)": V[0] * W[0] + V[1] * W[1] + V[2] * W[2],
    "np.cross(v, w)": np.cross(V.T, W.T).T,
    "hawk.math.norm(v)": np.sqrt(V[0] * V[0] + V[1] * V[1] + V[2] * V[2]),
    "M @ v": np.array([[sum(A[s, r, c] * V[c, s] for c in range(3)) for s in range(2)] for r in range(2)]),
    "M[1, 2]": M[5],
    "M[0]": M[:3],
    "M[:, 1]": M[[1, 4]],
    "M.T[2]": M[[2, 5]],
    "M[1] @ v": M[3] * V[0] + M[4] * V[1] + M[5] * V[2],
    "sum(v)": V[0] + V[1] + V[2],
    "max(v)": V.max(axis=0),
    "np.sin(v)": np.sin(V),
    "len(v) + len(M)": np.array([5, 5]),
    "np.maximum(v, 0)": np.maximum(V, 0),
    "v if x > 2 else w": np.where(np.array([2.0, 3.0]) > 2, V, W),
    "np.zeros(2) + x": np.array([[2.0, 3.0]] * 2),
    "v + [1, 2, 3]": V + np.array([[1], [2], [3]]),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_of_vectors(text: str, define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define(f"""
        @hawk.kernel
        def kernel(x: Scalar, v: Vector[3], w: Vector[3], M: Matrix[2, 3]):
            return {text}
    """)
    results = run(module.kernel, x=[2.0, 3.0], v=V, w=W, M=M)
    assert results["out"].tolist() == np.asarray(EXPRESSIONS[text]).tolist()


def test_matrices_are_outputs_in_row_major_order(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(M: Matrix[2, 3], q: Quat):
            product = M @ M.T
            turned = hawk.matrix([q[0], -q[1]], [q[1], q[0]])
            return product, turned
    """)
    product, turned = module.kernel.signature[2:]
    assert (product.name, product.shape, product.total) == ("product", (2, 2), True)
    assert turned.shape == (2, 2)
    results = run(module.kernel, M=M, q=np.ones((4, 2)))
    for s in range(2):
        assert np.allclose(results["product"][:, s].reshape(2, 2), A[s] @ A[s].T)
        assert results["turned"][:, s].tolist() == [1, -1, 1, 1]


def test_elements_are_assigned(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(v: Mutable[Vector[3]], M: Mutable[Matrix[2, 2]], x: Scalar):
            w = v
            w[0] = 9
            v[1] += x
            v[-1] = w[0]
            M[0, 1] = x
            M[1] = [x, v[0]]
            M *= 2
    """)
    results = run(module.kernel, v=[[1.0], [2.0], [3.0]], M=np.ones((4, 1)), x=[0.5])
    assert results["v"].ravel().tolist() == [1.0, 2.5, 9.0]
    assert results["M"].ravel().tolist() == [2.0, 1.0, 1.0, 2.0]


def test_the_variable_of_a_constant_loop_is_an_index(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(v: Vector[3], n: Int32):
            s = 0.0
            w = np.zeros(3)
            for i in range(3):
                s = s * 10 + v[i] * v[(i + 1) % 3]
                w[i] = v[2 - i]
            picked = v[n % 3]
            N = np.eye(2)
            for i in range(2):
                for j in range(len(N)):
                    N[i, j] += 10 * i + j
            return s, w, picked, N
    """)
    results = run(module.kernel, v=[[2.0], [3.0], [5.0]], n=[-2])
    assert results["s"].tolist() == [6.0 * 100 + 15.0 * 10 + 10.0]
    assert results["w"].ravel().tolist() == [5.0, 3.0, 2.0]
    assert results["picked"].tolist() == [3.0]
    assert results["N"].ravel().tolist() == [1.0, 1.0, 10.0, 12.0]


def test_tables_are_indexed_and_never_wrap(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(i: Int32, u: UInt32, t: Table[Scalar], g: Table[Int32, 2, 3], h: Table[Scalar, "n", 2]):
            a = t[i] + t[u]
            b = g[i, 2]
            c = h[u]
            return a, b, c
    """)
    assert [one.shape for one in module.kernel.signature[2:5]] == [(-1,), (2, 3), (-1, 2)]
    tables = {"t": [1.0, 2.0, 4.0], "g": [[1, 2, 3], [4, 5, 6]], "h": [[1.0, 2.0], [3.0, 4.0]]}
    results = run(module.kernel, i=[0, 1], u=[1, 0], **tables)
    assert results["a"].tolist() == [3.0, 3.0]
    assert results["b"].tolist() == [3, 6]
    assert results["c"].tolist() == [[3.0, 1.0], [4.0, 2.0]]
    results = run(module.kernel, i=[0, -1], u=[1, 0], **tables)
    assert (results.fault.sample, results.fault.error) == (1, IndexError)
    assert (results.fault.table, results.fault.index) == ("t", -1)


def test_a_table_in_a_branch_is_read_there_only(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(i: Int32, t: Table[Scalar, -1]):
            return t[i] if 0 <= i < 2 else 0.0
    """)
    results = run(module.kernel, i=[0, 5, -1, 1], t=[1.5, 2.5])
    assert results.fault is None
    assert results["out"].tolist() == [1.5, 0.0, 0.0, 2.5]
