"""Loops and tests at the edge of the integers, and of vectors."""

from __future__ import annotations

import numpy as np
import pytest

import hawk
from eagle_ir.evaluate import evaluate
from hawk import Index, Int32, Mutable, Vector


@hawk.kernel
def past_the_end(total: Mutable[Int32]):
    for _ in range(9223372036854775805, 9223372036854775807, 3):
        total += 1


@hawk.kernel
def run_time_end(start: Index, stop: Index, total: Mutable[Int32]):
    for _ in range(start, stop, 3):
        total += 1


@hawk.kernel
def finite(v: Vector[2], i: Int32):  # type: ignore[type-arg,valid-type]
    whole = np.isnan([i, i])
    good = np.isfinite(v)
    return good[0] and good[1] and not whole[0] and np.isfinite(i)


def test_a_step_past_the_last_integer_ends_the_loop() -> None:
    total = np.zeros(1, np.int32)
    evaluate(past_the_end.code, {"total": total}, {}, 1)
    assert total[0] == 1


@pytest.mark.parametrize("stop", [2**63 - 1, 2**63 - 3, 2**63 - 5, 2**63 - 12])
def test_so_does_one_known_only_at_run_time(stop: int) -> None:
    start = 2**63 - 11
    total = np.zeros(1, np.int32)
    evaluate(run_time_end.code, {"start": np.array([start]), "stop": np.array([stop]), "total": total}, {}, 1)
    assert total[0] == len(range(start, stop, 3))


def test_tests_of_floats_take_vectors_and_whole_numbers() -> None:
    out = np.zeros(3, bool)
    v = np.array([[1.0, np.nan, 1.0], [2.0, 2.0, np.inf]])
    evaluate(finite.code, {"v": v, "i": np.zeros(3, np.int32), "out": out}, {}, 3)
    assert out.tolist() == [True, False, False]
