"""Vectors cut into pieces and put together again; the number of pieces is a power of two."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_cpu.engine.code import Code

__all__ = ["cut", "join"]


def cut(code: Code, scalar: str, vector: str, lanes: int) -> list[str]:
    """Return the pieces of `lanes` lanes each."""
    if lanes == code.lanes:
        return [vector]
    whole = code.vector.of(scalar)
    return [
        code.let(f"shufflevector {whole} {vector}, {whole} poison, <{lanes} x i32> <{_order(first, lanes)}>")
        for first in range(0, code.lanes, lanes)
    ]


def join(code: Code, scalar: str, pieces: Sequence[str], lanes: int) -> str:
    """Return pieces of `lanes` lanes each as one vector."""
    while len(pieces) > 1:
        half, order = f"<{lanes} x {scalar}>", f"<{2 * lanes} x i32> <{_order(0, 2 * lanes)}>"
        pieces = [
            code.let(f"shufflevector {half} {first}, {half} {second}, {order}")
            for first, second in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        lanes *= 2
    return pieces[0]


def _order(first: int, lanes: int) -> str:
    return ", ".join(f"i32 {lane}" for lane in range(first, first + lanes))
