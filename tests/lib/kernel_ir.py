"""Small functions of the IR, and one operation at a time through the reference evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle.plugin import Argument
from eagle.plugin.kernels import Role
from eagle.plugin.nodes import Mode
from eagle_ir import OPERATIONS, Builder, Function, Site, Type
from eagle_ir.evaluate import Fault, evaluate

SITE = Site("orbit.py", 7, "y = a // b")


def sample(name: str, type_: Type = Type.F64, mode: Mode = "r", shape: tuple[int, ...] = ()) -> Argument:
    return Argument(name=name, role="sample", mode=mode, dtype=type_.value, shape=shape, total=mode == "w")


def other(name: str, role: Role, type_: Type, mode: Mode = "r", shape: tuple[int, ...] = ()) -> Argument:
    return Argument(name=name, role=role, mode=mode, dtype=type_.value, shape=shape)


def operation(op: str, operands: list[Type], gives: Type | None = None) -> Function:
    """A function that loads its operands, computes one operation and stores it."""
    result = Type.BOOL if OPERATIONS[op].gives == "bool" else gives or operands[-1]
    names = [f"x{number}" for number in range(len(operands))]
    planes = [sample(name, type_) for name, type_ in zip(names, operands, strict=True)]
    b = Builder(op, [*planes, sample("out", result, "w")])
    b.store("out", b.compute(op, *(b.load(name) for name in names), site=SITE, gives=gives))
    return b.finish()


def compute(op: str, *operands: Any, gives: Type | None = None) -> Any:
    """The operation of NumPy scalars as the evaluator has it: a NumPy scalar, or the exception class of a fault."""
    function = operation(op, [Type(np.asarray(one).dtype.name) for one in operands], gives)
    arrays = {f"x{number}": np.array([one]) for number, one in enumerate(operands)}
    arrays["out"] = np.zeros(1, function.argument("out").dtype)
    fault = evaluate(function, arrays, {}, 1)
    return fault.error if isinstance(fault, Fault) else arrays["out"][0]


def same(a: Any, b: Any) -> bool:
    """Whether two NumPy scalars or arrays have one type and the same bits, NaN being equal to NaN."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a)[a == 0], np.signbit(b)[b == 0]))
