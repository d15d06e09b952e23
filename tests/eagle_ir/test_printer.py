"""The text of a function is stable, and the fingerprint is a hash of what decides the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from kernel_ir import SITE, other, sample

from eagle_ir import Block, Builder, Function, Site, Type, Value, fingerprint, to_text


def decay(
    name: str = "decay",
    plane: str = "x",
    site: Site = SITE,
    rate: float = 0.1,
    type_: Type = Type.F64,
    shape: tuple[int, ...] = (2,),
    op: str = "sub",
    skip: int = 0,
) -> Function:
    """A loop with everything in it: a table, a branch, a mask, a param."""
    b = Builder(
        name,
        [
            sample(plane, type_, "rw", shape),
            other("t", "table", type_, shape=(-1,)),
            other("dt", "param", type_),
            other("done", "mask", Type.BOOL, "rw"),
            replace(sample("out", type_, "w"), total=False),
        ],
    )
    for _ in range(skip):
        b._value(Type.F64)  # another front end numbers its values in another way
    x, y = b.load(plane, 0), b.load(plane, 1)
    k, one, limit = b.const(rate, type_), b.const(1, Type.I64), b.const(8, Type.I64)
    zero = b.const(0, Type.I64)

    def body(carried: tuple[Value, ...]) -> list[Value]:
        i, value = carried
        step = b.compute("mul", k, b.gather("t", [i], site))
        (less,) = b.if_(b.compute("gt", value, y), lambda: [b.compute(op, value, step)], lambda: [value])
        return [b.compute("add", i, one), less]

    _, value = b.while_([zero, x], lambda carried: b.compute("lt", carried[0], limit), body)
    b.store(plane, value, 0)
    b.store("out", b.compute("fma", value, b.parameter("dt"), y))
    b.store("done", b.compute("isnan", value))
    return b.finish()


TEXT = """\
decay(
    x: sample rw float64[2]
    t: table r float64[-1]
    dt: param r float64
    done: mask rw bool
    out: sample w float64
):
    %0: f64 = load x.0
    %1: f64 = load x.1
    %2: f64 = const 0x1.999999999999ap-4
    %3: i64 = const 1
    %4: i64 = const 8
    %5: i64 = const 0
    %15: i64, %16: f64 = while (%6: i64, %7: f64) from (%5, %0):
        %8: b1 = lt %6, %4
        yield %8
    do:
        %9: f64 = gather t[%6]
        %10: f64 = mul %2, %9
        %11: b1 = gt %7, %1
        %13: f64 = if %11:
            %12: f64 = sub %7, %10
            yield %12
        else:
            yield %7
        %14: i64 = add %6, %3
        yield %14, %13
    %17: f64 = param dt
    %18: f64 = fma %16, %17, %1
    %19: b1 = isnan %16
    store x.0, %16
    store out.0, %18
    store done.0, %19
"""


def test_the_text_of_a_function() -> None:
    assert to_text(decay()) == TEXT


def test_values_are_numbered_from_zero_whatever_numbers_they_have() -> None:
    assert to_text(decay(skip=100)) == to_text(decay())
    assert "load x.0" in to_text(decay()).splitlines()[7]
    assert to_text(decay()).splitlines()[7].strip().startswith("%0: f64 =")


def test_constants_are_written_without_loss() -> None:
    b = Builder("f", [])
    for number, type_ in [(-0.0, Type.F64), (5e-324, Type.F64), (float("nan"), Type.F64), (0.1, Type.F32)]:
        b.const(number, type_)
    b.const(-(2**63), Type.I64)
    b.const(True, Type.BOOL)
    numbers = [line.split("const ")[1] for line in to_text(b.finish()).splitlines()[2:]]
    assert numbers == ["-0x0.0p+0", "0x0.0000000000001p-1022", "nan", "0x1.99999a0000000p-4", str(-(2**63)), "True"]


def test_a_function_that_does_nothing_has_a_text() -> None:
    assert to_text(Builder("nothing", []).finish()) == "nothing(\n):\n"
    assert fingerprint(Builder("nothing", []).finish()) == fingerprint(Function("other", (), Block(())))


@pytest.mark.parametrize(
    "change",
    [
        lambda: decay(name="another"),
        lambda: decay(plane="position"),
        lambda: decay(site=Site("elsewhere.py", 99, "t[i]")),
        lambda: decay(skip=3),
    ],
    ids=["name", "plane", "site", "numbering"],
)
def test_names_places_and_numbering_do_not_change_the_fingerprint(change: Callable[[], Function]) -> None:
    assert fingerprint(change()) == fingerprint(decay())


@pytest.mark.parametrize(
    "change",
    [
        lambda: decay(rate=0.1 + 2**-56),
        lambda: decay(rate=-0.1),
        lambda: decay(type_=Type.F32),
        lambda: decay(shape=(3,)),
        lambda: decay(shape=(2, 1)),
        lambda: decay(op="mul"),
    ],
    ids=["last bit", "sign", "type", "length", "axes", "operation"],
)
def test_what_decides_the_result_changes_the_fingerprint(change: Callable[[], Function]) -> None:
    assert fingerprint(change()) != fingerprint(decay())


def test_every_part_of_an_argument_that_decides_changes_the_fingerprint() -> None:
    function = decay()
    out, table = function.argument("out"), function.argument("t")
    prints = {
        fingerprint(
            replace(function, arguments=tuple(new if one.name == new.name else one for one in function.arguments))
        )
        for new in (out, replace(out, mode="rw"), replace(out, total=True), replace(table, shape=(5,)))
    }
    assert len(prints) == 4


def test_zeros_of_two_signs_are_two_constants() -> None:
    assert fingerprint(decay(rate=0.0)) != fingerprint(decay(rate=-0.0))


def test_the_order_of_operands_changes_the_fingerprint() -> None:
    def difference(first: str, second: str) -> str:
        b = Builder("f", [sample("x"), sample("y"), sample("out", mode="w")])
        values = {"x": b.load("x"), "y": b.load("y")}
        b.store("out", b.compute("sub", values[first], values[second]))
        return fingerprint(b.finish())

    assert difference("x", "y") != difference("y", "x")


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    # A golden: it keys object caches on disk, so it changes only together with the dialect or the text.
    assert fingerprint(decay()) == "9628933c9095a66b28d2b8dd412050736461af6056913901aef77e5792000988"
