"""Every rule of the IR, broken once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kernel_ir import SITE, other, sample

from eagle.plugin import Argument
from eagle_ir import (
    Block,
    Compute,
    Const,
    Function,
    Gather,
    If,
    Instruction,
    IRError,
    Load,
    Parameter,
    Store,
    Type,
    Value,
    While,
    verify,
)

F, N, Y = Type.F64, Type.I64, Type.BOOL
X, SECOND, INDEX, FLAG, LAST = Value(1, F), Value(2, F), Value(3, N), Value(4, Y), Value(9, F)
ARGUMENTS = (
    sample("x"),
    sample("pair", shape=(2,)),
    sample("flag", Y),
    sample("i", N),
    other("t", "table", F, shape=(-1, 3)),
    other("p", "param", F),
    other("done", "mask", Y, "rw"),
    replace(sample("out", mode="w"), total=False),
)
LOADED: tuple[Instruction, ...] = (Load(X, "x"), Load(SECOND, "pair", 1), Load(INDEX, "i"), Load(FLAG, "flag"))


def function(*instructions: Instruction, arguments: tuple[Argument, ...] = ARGUMENTS) -> Function:
    return Function("f", arguments, Block((*LOADED, *instructions)), (SITE,))


def loop(**changes: object) -> While:
    a, test = Value(5, F), Value(6, Y)
    good = While((LAST,), (X,), (a,), Block((Compute(test, "lt", (a, X)),), (test,)), Block((), (a,)))
    return replace(good, **changes)  # type: ignore[arg-type]


def choice(then: Block, orelse: Block, condition: Value = FLAG) -> If:
    return If((LAST,), condition, then, orelse)


def yields(*values: Value) -> Block:
    return Block((), values)


def test_the_function_the_others_break_is_whole() -> None:
    verify(
        function(
            Const(Value(10, F), 1.0),
            Parameter(Value(11, F), "p"),
            Gather(Value(12, F), "t", (INDEX, INDEX), 0),
            Compute(Value(13, N), "floordiv", (INDEX, INDEX), 0),
            Compute(Value(14, F), "floordiv", (X, X)),
            choice(yields(X), yields(SECOND)),
            loop(results=(Value(15, F),)),
            Store("out", Value(15, F)),
            Store("done", FLAG),
        )
    )


BROKEN: dict[str, tuple[Instruction, ...]] = {
    "value 99 is not assigned there": (Compute(LAST, "neg", (Value(99, F),)),),
    "value 1 is assigned twice": (Load(X, "x"),),
    "comes after a store": (Store("out", X), Const(LAST, 1.0)),
    "it is stored twice": (Store("out", X), Store("out", X)),
    "there is no argument 'nothing'": (Load(LAST, "nothing"),),
    "x is float64": (Load(Value(9, Type.F32), "x"),),
    "it is no param": (Parameter(LAST, "x"),),
    "it is no table": (Gather(LAST, "x", (), 0),),
    "it is not readable": (Load(LAST, "out"),),
    "it is not writable": (Store("x", X),),
    "its number is of another type": (Const(LAST, 1),),
    "its number does not fit": (Const(Value(9, Type.U32), -1),),
    "neg does not take": (Compute(Value(9, Y), "neg", (FLAG,)),),
    "it gives float64": (Compute(Value(9, N), "neg", (X,)),),
    "there is no operation 'sine'": (Compute(LAST, "sine", (X,)),),
    "add takes 2 operands, not 3": (Compute(LAST, "add", (X, X, X)),),
    "its condition is no bool": (choice(yields(X), yields(X), condition=INDEX),),
    "a block yields other types": (choice(yields(X), yields(INDEX)),),
    "its condition yields no bool": (loop(condition=yields(X)),),
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_broken_rule_is_named(why: str) -> None:
    with pytest.raises(IRError) as caught:
        verify(function(*BROKEN[why]))
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "instruction",
    [Load(LAST, "pair", 2), Load(LAST, "pair", -1), Load(LAST, "x", 1), Store("out", X, 1), Store("out", X, -1)],
    ids=str,
)
def test_a_component_an_argument_has_not_is_refused(instruction: Instruction) -> None:
    with pytest.raises(IRError, match="there is no such component"):
        verify(function(instruction))


@pytest.mark.parametrize(
    "inner",
    [Load(Value(20, F), "x"), Store("out", X)],
    ids=["load", "store"],
)
@pytest.mark.parametrize("where", ["then", "orelse", "condition", "body"])
def test_loads_and_stores_stand_outermost(inner: Instruction, where: str) -> None:
    with_it = Block((inner,), (X,))
    outer: Instruction
    if where == "then":
        outer = choice(with_it, yields(X))
    elif where == "orelse":
        outer = choice(yields(X), with_it)
    else:
        good = getattr(loop(), where)
        outer = loop(**{where: Block((inner, *good.instructions), good.yields)})
    with pytest.raises(IRError, match="stands inside a block"):
        verify(function(outer))


def test_what_a_block_assigns_is_not_seen_outside() -> None:
    inner = Value(20, F)
    then = Block((Compute(inner, "neg", (X,)),), (inner,))
    with pytest.raises(IRError, match="value 20 is not assigned there"):
        verify(function(choice(then, yields(X)), Store("out", inner)))


def test_what_one_branch_assigns_is_not_seen_in_the_other() -> None:
    inner = Value(20, F)
    then = Block((Compute(inner, "neg", (X,)),), (inner,))
    with pytest.raises(IRError, match="value 20 is not assigned there"):
        verify(function(choice(then, yields(inner))))


def test_what_a_condition_computes_is_not_seen_in_the_body() -> None:
    test = loop().condition.yields[0]
    negated = Value(20, Y)
    body = Block((Compute(negated, "not", (test,)),), loop().body.yields)
    with pytest.raises(IRError, match="value 6 is not assigned there"):
        verify(function(loop(body=body)))


def test_what_a_loop_carries_is_not_seen_after_it() -> None:
    with pytest.raises(IRError, match="value 5 is not assigned there"):
        verify(function(loop(), Store("out", loop().arguments[0])))


def test_a_value_of_one_number_and_another_type_is_another_value() -> None:
    with pytest.raises(IRError, match="value 1 is not assigned there"):
        verify(function(Compute(Value(9, N), "neg", (Value(1, N),))))


@pytest.mark.parametrize("field", ["initial", "results"])
def test_a_loop_carries_the_same_types_throughout(field: str) -> None:
    other_type = {"initial": (INDEX,), "results": (Value(9, N),)}
    with pytest.raises(IRError, match="it carries other types"):
        verify(function(loop(**{field: other_type[field]})))


def test_the_body_of_a_loop_yields_what_it_carries() -> None:
    with pytest.raises(IRError, match="it carries other types"):
        verify(function(loop(body=yields(INDEX))))


@pytest.mark.parametrize("indices", [(INDEX,), (INDEX, INDEX, INDEX), (X, X)], ids=["few", "many", "floats"])
def test_a_table_takes_an_int64_per_axis(indices: tuple[Value, ...]) -> None:
    with pytest.raises(IRError, match="wrong indices"):
        verify(function(Gather(LAST, "t", indices, 0)))


@pytest.mark.parametrize("site", [None, 1, -1])
@pytest.mark.parametrize("op", ["floordiv", "mod", "convert"])
def test_what_can_fault_needs_a_site(op: str, site: int | None) -> None:
    result, operands = Value(9, N), (X,) if op == "convert" else (INDEX, INDEX)
    with pytest.raises(IRError, match="it needs a site"):
        verify(function(Compute(result, op, operands, site)))


def test_a_gather_needs_a_site() -> None:
    with pytest.raises(IRError, match="it needs a site"):
        verify(function(Gather(LAST, "t", (INDEX, INDEX), 1)))


def test_the_outermost_block_yields_nothing() -> None:
    with pytest.raises(IRError, match="outermost block yields"):
        verify(Function("f", ARGUMENTS, Block(LOADED, (X,)), (SITE,)))


def test_two_arguments_of_one_name_are_refused() -> None:
    with pytest.raises(IRError, match="two arguments of one name"):
        verify(function(arguments=(*ARGUMENTS, sample("x"))))


def test_two_masks_are_refused() -> None:
    with pytest.raises(IRError, match="two masks"):
        verify(function(arguments=(*ARGUMENTS, other("mask", "mask", Y, "rw"))))


def test_a_total_argument_is_stored_in_full() -> None:
    arguments = (*ARGUMENTS, sample("both", mode="w", shape=(2, 1)))
    verify(function(Store("both", X, 0), Store("both", X, 1), arguments=arguments))
    with pytest.raises(IRError, match="both is total, and not all of it is stored"):
        verify(function(Store("both", X, 0), arguments=arguments))
