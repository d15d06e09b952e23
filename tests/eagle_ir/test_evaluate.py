"""The reference evaluator: samples, planes, masks, tables, loops and faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from kernel_ir import SITE, other, sample

from eagle_ir import Builder, Function, Site, Type, Value
from eagle_ir.evaluate import Fault, evaluate, evaluate_sample

LATER = Site("orbit.py", 8, "z = t[i]")


def reciprocal() -> Function:
    """out = 60 // i, and count is one more, in place."""
    b = Builder("reciprocal", [sample("i", Type.I32), sample("count", Type.I32, "rw"), sample("out", Type.I32, "w")])
    sixty, one = b.const(60, Type.I32), b.const(1, Type.I32)
    b.store("count", b.compute("add", b.load("count"), one))
    b.store("out", b.compute("floordiv", sixty, b.load("i"), site=SITE))
    return b.finish()


def test_the_lowest_sample_is_the_one_whose_fault_is_returned() -> None:
    arrays = {"i": np.array([5, 0, 7, 0], np.int32), "count": np.zeros(4, np.int32), "out": np.full(4, -9, np.int32)}
    assert evaluate(reciprocal(), arrays, {}, 4) == Fault(1, ZeroDivisionError, 0)


def test_a_sample_that_faults_stores_nothing_and_the_others_finish() -> None:
    arrays = {"i": np.array([5, 0, 7, 0], np.int32), "count": np.zeros(4, np.int32), "out": np.full(4, -9, np.int32)}
    evaluate(reciprocal(), arrays, {}, 4)
    assert arrays["out"].tolist() == [12, -9, 8, -9]
    assert arrays["count"].tolist() == [1, 0, 1, 0]


def test_no_fault_is_none_and_no_samples_do_nothing() -> None:
    arrays = {"i": np.array([2], np.int32), "count": np.zeros(1, np.int32), "out": np.zeros(1, np.int32)}
    assert evaluate(reciprocal(), arrays, {}, 0) is None
    assert arrays["out"].tolist() == [0]
    assert evaluate(reciprocal(), arrays, {}, 1) is None
    assert arrays["out"].tolist() == [30]


def lookup() -> Function:
    """out = t[i, j], with the two indices of one plane."""
    b = Builder(
        "lookup",
        [
            sample("at", Type.I64, shape=(2,)),
            other("t", "table", Type.F64, shape=(-1, -1)),
            sample("out", mode="w"),
        ],
    )
    b.store("out", b.gather("t", [b.load("at", 0), b.load("at", 1)], LATER))
    return b.finish()


@pytest.mark.parametrize(
    ("i", "j", "outside"),
    [(0, 0, None), (1, 2, None), (2, 0, 2), (0, 3, 3), (-1, 0, -1), (5, 9, 5), (0, -(2**63), -(2**63))],
)
def test_an_index_outside_its_axis_faults_with_the_first_such_index(i: int, j: int, outside: int | None) -> None:
    arrays = {"at": np.array([[i], [j]]), "t": np.arange(6.0).reshape(2, 3), "out": np.full(1, -9.0)}
    fault = evaluate(lookup(), arrays, {}, 1)
    if outside is None:
        assert fault is None
        assert arrays["out"][0] == arrays["t"][i, j]
    else:
        assert fault == Fault(0, IndexError, 0, "t", outside)
        assert arrays["out"][0] == -9


def test_an_empty_table_has_no_element() -> None:
    arrays = {"at": np.zeros((2, 1), np.int64), "t": np.zeros((0, 3)), "out": np.zeros(1)}
    assert evaluate(lookup(), arrays, {}, 1) == Fault(0, IndexError, 0, "t", 0)


def test_what_would_fault_in_the_branch_not_taken_does_not() -> None:
    b = Builder("f", [sample("i", Type.I32), sample("out", Type.I32, "w")])
    i, zero = b.load("i"), b.const(0, Type.I32)
    (y,) = b.if_(b.compute("ne", i, zero), lambda: [b.compute("mod", i, i, site=SITE)], lambda: [i])
    b.store("out", y)
    arrays = {"i": np.array([0, 3], np.int32), "out": np.full(2, -9, np.int32)}
    assert evaluate(b.finish(), arrays, {}, 2) is None
    assert arrays["out"].tolist() == [0, 0]


def test_the_first_fault_of_a_sample_is_its_fault() -> None:
    b = Builder("f", [sample("x"), sample("i", Type.I32), sample("out", Type.I32, "w")])
    whole = b.compute("convert", b.load("x"), site=LATER, gives=Type.I32)
    b.store("out", b.compute("floordiv", whole, b.load("i"), site=SITE))
    arrays = {"x": np.array([1e300]), "i": np.zeros(1, np.int32), "out": np.zeros(1, np.int32)}
    function = b.finish()
    fault = evaluate(function, arrays, {}, 1)
    assert fault is not None
    assert (fault.error, function.sites[fault.site]) == (OverflowError, LATER)


def masked() -> Function:
    """x grows by a step and is done above a limit."""
    b = Builder(
        "masked",
        [sample("x", mode="rw"), other("step", "param", Type.F64), other("done", "mask", Type.BOOL, "rw")],
    )
    x = b.compute("add", b.load("x"), b.parameter("step"))
    b.store("x", x)
    b.store("done", b.compute("or", b.load("done"), b.compute("gt", x, b.const(2, Type.F64))))
    return b.finish()


def test_a_finished_sample_is_left_alone_and_the_finishing_step_is_stored() -> None:
    arrays = {"x": np.array([0.0, 1.5, 7.0]), "done": np.array([False, False, True])}
    assert evaluate(masked(), arrays, {"step": 1}, 3) is None
    assert arrays["x"].tolist() == [1.0, 2.5, 7.0]
    assert arrays["done"].tolist() == [False, True, True]


def test_a_finished_sample_cannot_fault() -> None:
    b = Builder("f", [sample("i", Type.I32, "rw"), other("done", "mask", Type.BOOL, "rw")])
    i = b.load("i")
    b.store("i", b.compute("floordiv", i, i, site=SITE))
    arrays = {"i": np.zeros(2, np.int32), "done": np.array([True, False])}
    assert evaluate(b.finish(), arrays, {}, 2) == Fault(1, ZeroDivisionError, 0)


def test_any_byte_but_zero_is_true() -> None:
    b = Builder(
        "f", [sample("a", Type.BOOL), other("t", "table", Type.BOOL, shape=(-1,)), sample("out", Type.I32, "w")]
    )
    both = b.compute("eq", b.load("a"), b.gather("t", [b.const(0, Type.I64)], LATER))
    b.store("out", b.compute("convert", both, gives=Type.I32))
    two = np.array([2], np.uint8).view(np.bool_)
    arrays = {"a": two, "t": np.array([7], np.uint8).view(np.bool_), "out": np.zeros(1, np.int32)}
    assert evaluate(b.finish(), arrays, {}, 1) is None
    assert arrays["out"].tolist() == [1]


def test_loads_see_what_was_there_before_anything_was_stored() -> None:
    b = Builder("swap", [sample("pair", mode="rw", shape=(2,))])
    b.store("pair", b.load("pair", 1), 0)
    b.store("pair", b.load("pair", 0), 1)
    arrays = {"pair": np.array([[1.0, 2.0], [3.0, 4.0]])}
    evaluate(b.finish(), arrays, {}, 2)
    assert arrays["pair"].tolist() == [[3.0, 4.0], [1.0, 2.0]]


def test_a_component_that_is_not_stored_keeps_what_it_held() -> None:
    b = Builder("f", [replace(sample("out", mode="w", shape=(2,)), total=False)])
    b.store("out", b.const(1, Type.F64), 1)
    arrays = {"out": np.full((2, 1), -9.0)}
    evaluate(b.finish(), arrays, {}, 1)
    assert arrays["out"].tolist() == [[-9.0], [1.0]]


def test_a_param_is_rounded_to_its_type_and_an_integer_one_wraps() -> None:
    b = Builder(
        "f",
        [
            other("p", "param", Type.F32),
            other("k", "param", Type.I32),
            sample("out", Type.F32, "w"),
            sample("kept", Type.I32, "w"),
        ],
    )
    b.store("out", b.parameter("p"))
    b.store("kept", b.parameter("k"))
    arrays = {"out": np.zeros(1, np.float32), "kept": np.zeros(1, np.int32)}
    evaluate(b.finish(), arrays, {"p": 0.1, "k": 2**32 + 5}, 1)
    assert arrays["out"][0] == np.float32(0.1)
    assert arrays["kept"][0] == 5


def countdown() -> Function:
    """How often n can be halved: a loop whose count is each sample's own, carrying two values that swap."""
    b = Builder("countdown", [sample("n", Type.I64), sample("out", Type.I64, "w"), sample("last", Type.I64, "w")])
    zero, one, two = (b.const(number, Type.I64) for number in (0, 1, 2))

    def body(carried: tuple[Value, ...]) -> list[Value]:
        n, count, _ = carried
        return [b.compute("floordiv", n, two, site=SITE), b.compute("add", count, one), n]

    _, count, last = b.while_([b.load("n"), zero, zero], lambda c: b.compute("gt", c[0], zero), body)
    b.store("out", count)
    b.store("last", last)
    return b.finish()


def test_a_loop_runs_each_sample_s_own_number_of_times() -> None:
    arrays = {"n": np.array([0, 1, 8, -3, 1000]), "out": np.zeros(5, np.int64), "last": np.zeros(5, np.int64)}
    assert evaluate(countdown(), arrays, {}, 5) is None
    assert arrays["out"].tolist() == [0, 1, 4, 0, 10]
    assert arrays["last"].tolist() == [0, 1, 1, 0, 1]


def test_a_loop_assigns_all_it_carries_at_once() -> None:
    b = Builder("swap", [sample("n", Type.I64), sample("out", Type.I64, "w")])
    zero, one, two = (b.const(number, Type.I64) for number in (0, 1, 2))

    def body(carried: tuple[Value, ...]) -> list[Value]:
        n, first, second = carried
        return [b.compute("sub", n, one), second, first]

    _, first, _ = b.while_([b.load("n"), one, two], lambda c: b.compute("gt", c[0], zero), body)
    b.store("out", first)
    arrays = {"n": np.arange(3), "out": np.zeros(3, np.int64)}
    evaluate(b.finish(), arrays, {}, 3)
    assert arrays["out"].tolist() == [1, 2, 1]


def test_one_sample_may_be_evaluated_alone() -> None:
    arrays = {"x": np.zeros(3), "done": np.array([False, False, True])}
    for number in (1, 2):
        evaluate_sample(masked(), arrays, {"step": 1}, number)
    assert arrays["x"].tolist() == [0.0, 1.0, 0.0]
