"""The builder numbers values, puts them in the open block, and keeps stores for the end."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_ir import SITE, operation, other, sample

from eagle_ir import DIALECT, Builder, Const, If, IRError, Site, Store, Type, While, fingerprint, to_kernel


def test_every_value_has_its_own_number() -> None:
    b = Builder("f", [sample("x")])
    x = b.load("x")
    values = [x, b.const(1, Type.F64), b.compute("add", x, x), b.compute("add", x, x)]
    assert len({value.number for value in values}) == 4


@pytest.mark.parametrize(
    ("number", "type_", "kept"),
    [
        (0.1, Type.F32, float(np.float32(0.1))),
        (1e39, Type.F32, float("inf")),
        (3, Type.F64, 3.0),
        (True, Type.I32, 1),
        (2, Type.BOOL, True),
        (np.int64(7), Type.I64, 7),
        (np.float64(0.5), Type.F64, 0.5),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_a_constant_is_a_plain_number_of_its_type(number: float, type_: Type, kept: float) -> None:
    b = Builder("f", [])
    b.const(number, type_)
    (constant,) = b.finish().body.instructions
    assert isinstance(constant, Const)
    assert constant.number == kept
    assert type(constant.number) is type(kept)


def test_an_integer_constant_that_does_not_fit_is_refused() -> None:
    b = Builder("f", [])
    b.const(2**31, Type.I32)
    with pytest.raises(IRError, match="does not fit"):
        b.finish()


def test_operands_of_two_types_are_refused_at_once() -> None:
    b = Builder("f", [sample("x"), sample("i", Type.I32)])
    with pytest.raises(TypeError, match=r"add does not take \(float64, int32\)"):
        b.compute("add", b.load("x"), b.load("i"))


@pytest.mark.parametrize(
    ("op", "operands", "why"),
    [
        ("sine", [Type.F64], "no operation 'sine'"),
        ("add", [Type.F64], "add takes 2 operands, not 1"),
        ("sqrt", [Type.I64], r"sqrt does not take \(int64\)"),
        ("div", [Type.I32, Type.I32], r"div does not take \(int32, int32\)"),
        ("add", [Type.BOOL, Type.BOOL], r"add does not take \(bool, bool\)"),
        ("and", [Type.F64, Type.F64], "and does not take"),
        ("select", [Type.I32, Type.F64, Type.F64], "chooses by a bool, not by int32"),
        ("select", [Type.BOOL, Type.F64, Type.F32], "select does not take"),
        ("convert", [Type.F64], "has to state the type it gives"),
    ],
)
def test_an_operation_says_what_it_does_not_take(op: str, operands: list[Type], why: str) -> None:
    b = Builder("f", [])
    with pytest.raises(TypeError, match=why):
        b.compute(op, *(b.const(1, type_) for type_ in operands))


def test_the_last_store_to_a_component_counts_and_stands_at_the_end() -> None:
    b = Builder("f", [sample("x"), sample("out", mode="w", shape=(2,))])
    x = b.load("x")
    b.store("out", x, 0)
    b.store("out", x, 1)
    y = b.compute("neg", x)
    b.store("out", y, 0)
    *_, first, second = b.finish().body.instructions
    assert (first, second) == (Store("out", x, 1), Store("out", y, 0))


def test_an_if_whose_blocks_yield_different_types_is_refused() -> None:
    b = Builder("f", [])
    condition = b.const(True, Type.BOOL)
    with pytest.raises(TypeError, match="yield different types"):
        b.if_(condition, lambda: [b.const(1, Type.F64)], lambda: [b.const(1, Type.I32)])


def test_a_while_whose_body_yields_other_types_is_refused() -> None:
    b = Builder("f", [])
    zero, yes = b.const(0, Type.F64), b.const(True, Type.BOOL)
    with pytest.raises(TypeError, match="yields other types"):
        b.while_([zero], lambda carried: yes, lambda carried: [b.const(1, Type.I32)])


def test_instructions_go_into_the_block_that_is_open() -> None:
    b = Builder("f", [sample("x"), sample("out", mode="w")])
    x = b.load("x")
    (y,) = b.if_(b.compute("gt", x, x), lambda: [b.compute("neg", x)], lambda: [x])
    (z,) = b.while_([y], lambda carried: b.compute("lt", *carried, x), lambda carried: [b.compute("add", *carried, x)])
    b.store("out", z)
    _, _, choice, loop, _ = b.finish().body.instructions
    assert isinstance(choice, If)
    assert [len(block.instructions) for block in (choice.then, choice.orelse)] == [1, 0]
    assert isinstance(loop, While)
    assert [len(block.instructions) for block in (loop.condition, loop.body)] == [1, 1]


def test_a_block_that_fails_to_build_is_closed_again() -> None:
    b = Builder("f", [sample("x"), sample("out", mode="w")])
    x = b.load("x")

    def broken() -> list[object]:
        raise LookupError("the front end's own")

    with pytest.raises(LookupError):
        b.if_(b.compute("gt", x, x), broken, broken)  # type: ignore[arg-type]
    b.store("out", x)
    assert len(b.finish().body.instructions) == 3


def test_equal_sites_are_kept_once_and_only_where_an_operation_can_fault() -> None:
    b = Builder("f", [sample("i", Type.I32), other("t", "table", Type.F64, shape=(-1,))])
    i = b.load("i")
    b.compute("mul", i, i, site=Site("orbit.py", 1, "i * i"))
    b.compute("mod", b.compute("floordiv", i, i, site=SITE), i, site=Site("orbit.py", 7, "y = a // b"))
    b.gather("t", [b.compute("convert", i, gives=Type.I64)], Site("orbit.py", 9, "t[i]"))
    assert b.finish().sites == (SITE, Site("orbit.py", 9, "t[i]"))


def test_a_function_becomes_a_kernel_with_its_signature_and_fingerprint() -> None:
    function = operation("add", [Type.F64, Type.F64])
    kernel = to_kernel(function)
    assert (kernel.name, kernel.arguments, kernel.code) == ("add", function.arguments, function)
    assert (kernel.dialect, kernel.fingerprint) == (DIALECT, fingerprint(function))
    assert not kernel.derivative
    assert to_kernel(function, derivative=True).derivative
