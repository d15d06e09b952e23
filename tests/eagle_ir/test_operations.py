"""Each operation is what its documentation says, on the numbers where it is easily something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kernel_ir import compute, same

from eagle_ir import OPERATIONS, Type
from eagle_ir.evaluate import NUMPY

F64, F32, I64, I32, U32 = np.float64, np.float32, np.int64, np.int32, np.uint32
INF, NAN = math.inf, math.nan
FLOATS = [F64, F32]
INTEGERS = [I64, I32, U32]


def bounds(kind: Any) -> tuple[int, int]:
    return int(np.iinfo(kind).min), int(np.iinfo(kind).max)


def wrapped(number: int, kind: Any) -> Any:
    low, high = bounds(kind)
    return kind((number - low) % (high - low + 1) + low)


def integers(kind: Any) -> st.SearchStrategy[Any]:
    low, high = bounds(kind)
    edges = [low, low + 1, -1, 0, 1, 2, 31, 32, 33, 63, 64, high - 1, high]
    numbers = st.sampled_from([one for one in edges if low <= one <= high]) | st.integers(low, high)
    return numbers.map(kind)


def floats(kind: Any) -> st.SearchStrategy[Any]:
    info = np.finfo(kind)
    tiny = float(info.smallest_subnormal)
    edges = [0.0, -0.0, tiny, -tiny, float(info.tiny), 1.0, -1.0, 0.5, 2.5, float(info.max), INF, -INF, NAN]
    return (st.sampled_from(edges) | st.floats(width=np.dtype(kind).itemsize * 8)).map(kind)


pairs_of_integers = st.sampled_from(INTEGERS).flatmap(lambda kind: st.tuples(integers(kind), integers(kind)))
pairs_of_floats = st.sampled_from(FLOATS).flatmap(lambda kind: st.tuples(floats(kind), floats(kind)))
single_floats = st.sampled_from(FLOATS).flatmap(floats)

IN_Z: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@pytest.mark.property
@pytest.mark.parametrize("op", IN_Z)
@given(numbers=pairs_of_integers)
def test_integers_are_whole_numbers_that_wrap(op: str, numbers: tuple[Any, Any]) -> None:
    a, b = numbers
    if op in ("floordiv", "mod") and b == 0:
        assert compute(op, a, b) is ZeroDivisionError
    else:
        assert same(compute(op, a, b), wrapped(IN_Z[op](int(a), int(b)), type(a)))


@pytest.mark.property
@given(numbers=pairs_of_integers)
def test_a_shift_is_as_if_by_a_wider_integer(numbers: tuple[Any, Any]) -> None:
    a, b = numbers
    low, high = bounds(type(a))
    inside = 0 <= b < (high - low).bit_length()
    assert same(compute("shl", a, b), wrapped(int(a) << int(b), type(a)) if inside else type(a)(0))
    assert same(compute("shr", a, b), type(a)(int(a) >> int(b) if inside else -1 if a < 0 else 0))


@pytest.mark.parametrize("kind", [I64, I32])
def test_the_smallest_integer_has_no_opposite(kind: Any) -> None:
    low = kind(bounds(kind)[0])
    for result in (compute("neg", low), compute("abs", low), compute("floordiv", low, kind(-1))):
        assert same(result, low)
    assert same(compute("mod", low, kind(-1)), kind(0))


@pytest.mark.parametrize("kind", INTEGERS)
def test_one_operand_operations_of_integers(kind: Any) -> None:
    assert same(compute("neg", kind(1)), wrapped(-1, kind))
    assert same(compute("not", kind(5)), wrapped(~5, kind))
    assert same(compute("abs", kind(5)), kind(5))


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_logic_of_bools(a: bool, b: bool) -> None:
    for op, expected in (("and", a and b), ("or", a or b), ("xor", a != b), ("eq", a == b), ("ne", a != b)):
        assert same(compute(op, np.bool_(a), np.bool_(b)), np.bool_(expected))
    assert same(compute("not", np.bool_(a)), np.bool_(not a))


@pytest.mark.property
@given(numbers=pairs_of_floats)
def test_comparisons_with_nan_are_false_but_for_unequal(numbers: tuple[Any, Any]) -> None:
    a, b = (float(one) for one in numbers)
    ordered = not (math.isnan(a) or math.isnan(b))
    order = 0 if not ordered else (a > b) - (a < b)
    expected = {"eq": order == 0, "lt": order < 0, "le": order <= 0, "gt": order > 0, "ge": order >= 0}
    for op, holds in expected.items():
        assert same(compute(op, *numbers), np.bool_(ordered and holds))
    assert same(compute("ne", *numbers), np.bool_(not ordered or order != 0))


@pytest.mark.property
@given(numbers=pairs_of_integers)
def test_integers_compare_as_whole_numbers(numbers: tuple[Any, Any]) -> None:
    a, b = (int(one) for one in numbers)
    expected = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}
    for op, holds in expected.items():
        assert same(compute(op, *numbers), np.bool_(holds))


def exactly(exact: Fraction, kind: Any) -> Any:
    """The nearest float to a fraction that is not 0, half to even, by looking at its bits: no float rounds here."""
    bits, lowest, highest = (53, -1074, 1024) if kind is F64 else (24, -149, 128)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent += size >= Fraction(2) ** (exponent + 1)
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - bits + 1, lowest)
    whole, rest = divmod(size / unit, 1)
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    value = INF if whole * unit >= Fraction(2) ** highest else float(whole * unit)
    return kind(value if exact > 0 else -value)


def triples(kind: Any) -> st.SearchStrategy[tuple[Any, Any, Any]]:
    """Three floats, often such that the product nearly cancels, or its rounding is nearly a tie."""
    finite = floats(kind).filter(lambda one: bool(np.isfinite(one)))

    def near(a: Any, b: Any, sign: int, steps: int) -> tuple[Any, Any, Any]:
        with np.errstate(all="ignore"):
            c = kind(sign) * (a * b)
            for _ in range(abs(steps)):
                c = np.nextafter(c, kind(math.copysign(math.inf, steps)))
        return a, b, c

    return st.tuples(floats(kind), floats(kind), floats(kind)) | st.builds(
        near, finite, finite, st.sampled_from([-1, 1]), st.integers(-2, 2)
    )


@pytest.mark.property
@given(st.sampled_from(FLOATS).flatmap(triples))
@example((F64(1 + 2.0**-30), F64(1 - 2.0**-30), F64(-1)))
@example((F32(1 + 2.0**-12), F32(1 + 2.0**-12), F32(2.0**-60)))
@example((F32(31 * 2.0**50), F32(601 * 1801 * 2.0**53), F32(-1e-40)))  # a hair below the tie between max and infinity
@example((F32(2.0**-75), F32(-(2.0**-75)), F32(1e-45)))  # and a hair below the tie under the smallest
@example((F64(2.0**-1000), F64(-(2.0**-1000)), F64(0)))
@example((F64(1e300), F64(-1e300), F64(1)))
@example((F64(1e300), F64(1e300), F64(-INF)))
@example((F32(1e30), F32(1e30), F32(-INF)))
def test_fma_rounds_once(numbers: tuple[Any, Any, Any]) -> None:
    a, b, c = numbers
    result = compute("fma", a, b, c)
    if not all(np.isfinite(one) for one in numbers):
        with np.errstate(all="ignore"):
            product = F64(a) * F64(b)
            overflowed = np.isinf(product) and np.isfinite(a) and np.isfinite(b)
            assert same(result, c if overflowed else type(a)(product + F64(c)))
        return
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact:
        assert same(result, exactly(exact, type(a)))
    else:
        assert result == 0
        negative = np.signbit(a) != np.signbit(b)
        assert np.signbit(result) == (negative and np.signbit(c))


@pytest.mark.property
@given(numbers=pairs_of_floats)
def test_arithmetic_of_floats_is_exact_then_rounded(numbers: tuple[Any, Any]) -> None:
    a, b = numbers
    if not (np.isfinite(a) and np.isfinite(b)):
        return
    x, y = Fraction(float(a)), Fraction(float(b))
    for op, exact in (("add", x + y), ("sub", x - y), ("mul", x * y), ("div", x / y if y else Fraction(0))):
        if exact:
            assert same(compute(op, a, b), exactly(exact, type(a)))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("div", (1.0, 0.0), INF),
        ("div", (1.0, -0.0), -INF),
        ("div", (0.0, 0.0), NAN),
        ("div", (INF, INF), NAN),
        ("sub", (INF, INF), NAN),
        ("add", (-0.0, 0.0), 0.0),
        ("add", (-0.0, -0.0), -0.0),
        ("sub", (0.0, 0.0), 0.0),
        ("neg", (0.0,), -0.0),
        ("neg", (NAN,), NAN),
        ("abs", (-0.0,), 0.0),
        ("abs", (-INF,), INF),
        ("sqrt", (2.0,), None),
        ("sqrt", (-0.0,), -0.0),
        ("sqrt", (-1.0,), NAN),
        ("copysign", (3.0, -0.0), -3.0),
        ("copysign", (-3.0, INF), 3.0),
        ("fma", (INF, 0.0, 1.0), NAN),
        ("fma", (INF, 1.0, -INF), NAN),
        ("fma", (-0.0, 1.0, -0.0), -0.0),
        ("fma", (-0.0, 1.0, 0.0), 0.0),
        ("floor", (-0.5,), -1.0),
        ("floor", (-0.0,), -0.0),
        ("ceil", (-0.5,), -0.0),
        ("ceil", (0.5,), 1.0),
        ("trunc", (-0.5,), -0.0),
        ("trunc", (-1.5,), -1.0),
        ("round", (0.5,), 0.0),
        ("round", (1.5,), 2.0),
        ("round", (2.5,), 2.0),
        ("round", (-0.5,), -0.0),
        ("round", (-INF,), -INF),
        ("isnan", (NAN,), True),
        ("isnan", (INF,), False),
        ("isinf", (-INF,), True),
        ("isinf", (NAN,), False),
        ("floordiv", (7.0, -2.0), -4.0),
        ("floordiv", (1.0, 0.0), INF),
        ("floordiv", (-1.0, 0.0), -INF),
        ("floordiv", (0.0, 0.0), NAN),
        ("floordiv", (-0.0, 3.0), -0.0),
        ("floordiv", (INF, 2.0), NAN),
        ("floordiv", (1.0, INF), 0.0),
        ("floordiv", (-1.0, INF), -1.0),
        ("mod", (7.0, -2.0), -1.0),
        ("mod", (-7.0, 2.0), 1.0),
        ("mod", (6.0, -2.0), -0.0),
        ("mod", (-6.0, 2.0), 0.0),
        ("mod", (1.0, 0.0), NAN),
        ("mod", (INF, 2.0), NAN),
        ("mod", (-1.0, INF), INF),
        ("mod", (1.0, NAN), NAN),
        ("fmod", (-7.0, 2.0), -1.0),
        ("fmod", (7.0, -2.0), 1.0),
        ("fmod", (-6.0, 2.0), -0.0),
        ("fmod", (5.0, INF), 5.0),
        ("fmod", (1.0, 0.0), NAN),
    ],
)
def test_where_floats_are_easily_something_else(
    kind: Any, op: str, operands: tuple[float, ...], expected: float | None
) -> None:
    if expected is None:
        expected = kind(math.sqrt(operands[0]))
    want = np.bool_(expected) if isinstance(expected, bool) else kind(expected)
    assert same(compute(op, *map(kind, operands)), want)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("a", [0.0, -0.0, 1.0, -INF, INF, NAN])
@pytest.mark.parametrize("b", [0.0, -0.0, 1.0, -INF, INF, NAN])
def test_min_and_max_propagate_nan_and_order_zeros(kind: Any, a: float, b: float) -> None:
    if math.isnan(a) or math.isnan(b):
        low = high = NAN
    else:
        low, high = sorted((a, b), key=lambda one: (one, math.copysign(1, one)))
    assert same(compute("min", kind(a), kind(b)), kind(low))
    assert same(compute("max", kind(a), kind(b)), kind(high))


@pytest.mark.property
@given(numbers=pairs_of_floats)
def test_floor_division_and_remainder_are_python_s_where_python_has_an_answer(numbers: tuple[Any, Any]) -> None:
    a, b = numbers
    if type(a) is F64 and b != 0:
        assert same(compute("floordiv", a, b), F64(float(a) // float(b)))
        assert same(compute("mod", a, b), F64(float(a) % float(b)))


@pytest.mark.property
@given(single_floats)
def test_whole_numbers_near_a_float(a: Any) -> None:
    if not np.isfinite(a):
        for op in ("floor", "ceil", "trunc", "round"):
            assert same(compute(op, a), a)
        return
    exact = Fraction(float(a))
    for op, whole in (
        ("floor", math.floor(exact)),
        ("ceil", math.ceil(exact)),
        ("trunc", math.trunc(exact)),
        ("round", round(exact)),
    ):
        assert same(compute(op, a), type(a)(math.copysign(whole, a)))


@pytest.mark.property
@given(single_floats, st.sampled_from(INTEGERS))
@example(F64(2.0**31), I32)
@example(F64(2.0**31 - 0.5), I32)
@example(F64(-(2.0**31) - 0.5), I32)
@example(F64(-(2.0**31) - 1), I32)
@example(F64(-0.9), U32)
@example(F64(-1.0), U32)
@example(F64(2.0**63), I64)
@example(F32(2.0**63), I64)
@example(F64(-(2.0**63)), I64)
def test_a_float_becomes_an_integer_by_dropping_its_fraction_or_faults(a: Any, kind: Any) -> None:
    low, high = bounds(kind)
    result = compute("convert", a, gives=Type(np.dtype(kind).name))
    if np.isfinite(a) and low <= math.trunc(Fraction(float(a))) <= high:
        assert same(result, kind(math.trunc(Fraction(float(a)))))
    else:
        assert result is OverflowError


@pytest.mark.property
@given(st.sampled_from(INTEGERS).flatmap(integers), st.sampled_from([*INTEGERS, *FLOATS]))
@example(I64(2**53 + 1), F64)
@example(I64(2**62 + 2**38 + 1), F32)  # by way of float64 it would round twice
@example(U32(2**32 - 1), F32)
def test_an_integer_in_another_type_wraps_or_rounds_once(a: Any, kind: Any) -> None:
    result = compute("convert", a, gives=Type(np.dtype(kind).name))
    if kind in FLOATS:
        assert same(result, exactly(Fraction(int(a)), kind) if a else kind(0))
    else:
        assert same(result, wrapped(int(a), kind))


@pytest.mark.property
@given(floats(F64))
@example(F64(1 + 2.0**-24))
@example(F64(1 + 3 * 2.0**-24))
@example(F64(1e39))
@example(F64(-1e-46))
def test_a_float64_becomes_the_nearest_float32(a: Any) -> None:
    result = compute("convert", a, gives=Type.F32)
    if np.isfinite(a) and a:
        assert same(result, exactly(Fraction(float(a)), F32))
    else:
        assert same(result, F32(float(a)))
    back = compute("convert", result, gives=Type.F64)
    assert same(back, F64(float(result)))


@pytest.mark.parametrize("value", [F64(0.0), F64(-0.0), F64(NAN), F32(1e-45), I64(256), I32(0), U32(2**31)])
def test_a_bool_is_whether_a_number_is_not_zero(value: Any) -> None:
    assert same(compute("convert", value, gives=Type.BOOL), np.bool_(float(value) != 0))


@pytest.mark.parametrize("type_", list(Type))
@pytest.mark.parametrize("value", [False, True])
def test_a_bool_becomes_zero_or_one(type_: Type, value: bool) -> None:
    assert same(compute("convert", np.bool_(value), gives=type_), type_.dtype.type(value))


@pytest.mark.parametrize("kind", [*FLOATS, *INTEGERS, np.bool_])
def test_select_chooses_by_a_bool(kind: Any) -> None:
    assert same(compute("select", np.bool_(True), kind(1), kind(0)), kind(1))
    assert same(compute("select", np.bool_(False), kind(1), kind(0)), kind(0))


def test_every_transcendental_has_a_function_of_numpy() -> None:
    assert set(NUMPY) == {op for op, operation in OPERATIONS.items() if operation.transcendental}


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("op", sorted(NUMPY))
def test_a_transcendental_is_the_function_of_that_name(op: str, kind: Any) -> None:
    operands = [1.25 if op == "acosh" else 0.625, 1.5][: OPERATIONS[op].operands]
    expected = getattr(math, op)(*operands)
    result = compute(op, *map(kind, operands))
    assert type(result) is kind
    assert abs(float(result) - expected) <= 4 * abs(np.spacing(kind(expected)))


def test_the_transcendentals_may_be_given() -> None:
    from kernel_ir import operation

    from eagle_ir.evaluate import evaluate

    arrays = {"x0": np.array([3.0]), "out": np.zeros(1)}
    assert evaluate(operation("sin", [Type.F64]), arrays, {}, 1, {"sin": lambda value: value * 2}) is None
    assert arrays["out"].tolist() == [6.0]
