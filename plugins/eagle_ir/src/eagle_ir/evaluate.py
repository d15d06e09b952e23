"""The reference evaluator: one sample at a time, on NumPy scalars. It defines what a function computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eagle_ir.program import (
    Block,
    Compute,
    Const,
    Function,
    Gather,
    If,
    Instruction,
    Load,
    Parameter,
    Store,
    Value,
    While,
)
from eagle_ir.scalars import OverflowFault, ZeroDivisionFault, apply, scalar
from eagle_ir.types import Type

__all__ = ["Fault", "evaluate", "evaluate_sample"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What retired a sample.

    Attributes
    ----------
    sample : int
    error : type
        `IndexError`, `ZeroDivisionError` or `OverflowError`.
    site : int
        An index into `Function.sites`.
    table : str or None
        The table of an `IndexError`.
    index : int or None
        The first index that was outside.
    """

    sample: int
    error: type[ArithmeticError] | type[IndexError]
    site: int
    table: str | None = None
    index: int | None = None


class _Retired(Exception):
    def __init__(self, error: type[ArithmeticError] | type[IndexError], site: int, *where: Any) -> None:
        self.error, self.site, self.where = error, site, where


def evaluate(
    function: Function,
    arrays: Mapping[str, np.ndarray],
    params: Mapping[str, Any],
    samples: int,
    math_functions: dict[str, Callable[..., Any]] | None = None,
) -> Fault | None:
    """Run `function` once over all samples, in place.

    Parameters
    ----------
    function : Function
    arrays : mapping of str to ndarray
        A plane per sample argument, (n,) or (components, n); masks; tables.
    params : mapping of str to number
    samples : int
    math_functions : dict, optional
        The transcendentals; NumPy's by default.

    Returns
    -------
    Fault or None
        The fault of the lowest sample. A sample that faulted stores nothing.
    """
    first: Fault | None = None
    for sample in range(samples):
        try:
            evaluate_sample(function, arrays, params, sample, math_functions)
        except _Retired as retired:
            if first is None:
                first = Fault(sample, retired.error, retired.site, *retired.where)
    return first


def evaluate_sample(
    function: Function,
    arrays: Mapping[str, np.ndarray],
    params: Mapping[str, Any],
    sample: int,
    math_functions: dict[str, Callable[..., Any]] | None = None,
) -> None:
    """Run `function` for one sample, in place; a finished sample is left alone."""
    mask = next((one.name for one in function.arguments if one.role == "mask"), None)
    if mask is None or not arrays[mask][sample]:
        _Evaluation(function, arrays, params, sample, math_functions or NUMPY).run()


class _Evaluation:
    def __init__(
        self,
        function: Function,
        arrays: Mapping[str, np.ndarray],
        params: Mapping[str, Any],
        sample: int,
        math_functions: dict[str, Callable[..., Any]],
    ) -> None:
        self.function, self.arrays, self.params = function, arrays, params
        self.sample, self.math = sample, math_functions
        self.values: dict[Value, Any] = {}

    def run(self) -> None:
        self._block(self.function.body)

    def _block(self, block: Block) -> tuple[Any, ...]:
        for instruction in block.instructions:
            self._instruction(instruction)
        return tuple(self.values[value] for value in block.yields)

    def _instruction(self, instruction: Instruction) -> None:
        if isinstance(instruction, If):
            chosen = instruction.then if self.values[instruction.condition] else instruction.orelse
            self._assign(instruction.results, self._block(chosen))
        elif isinstance(instruction, While):
            self._assign(instruction.arguments, tuple(self.values[value] for value in instruction.initial))
            while self._block(instruction.condition)[0]:
                self._assign(instruction.arguments, self._block(instruction.body))
            self._assign(instruction.results, tuple(self.values[value] for value in instruction.arguments))
        elif isinstance(instruction, Store):
            self._plane(instruction.argument, instruction.component)[self.sample] = self.values[instruction.value]
        else:
            self.values[instruction.result] = self._plain(instruction)

    def _plain(self, instruction: Const | Parameter | Load | Gather | Compute) -> Any:
        type_ = instruction.result.type
        if isinstance(instruction, Const):
            return scalar(instruction.number, type_)
        if isinstance(instruction, Parameter):
            return scalar(self.params[instruction.argument], type_)
        if isinstance(instruction, Load):
            loaded = self._plane(instruction.argument, instruction.component)[self.sample]
            return np.bool_(loaded != 0) if type_ is Type.BOOL else loaded
        if isinstance(instruction, Gather):
            return self._gather(instruction)
        operands = tuple(self.values[operand] for operand in instruction.operands)
        try:
            return apply(instruction.op, operands, type_, self.math)
        except (ZeroDivisionFault, OverflowFault) as fault:
            assert instruction.site is not None
            kind = ZeroDivisionError if isinstance(fault, ZeroDivisionFault) else OverflowError
            raise _Retired(kind, instruction.site) from None

    def _gather(self, gather: Gather) -> Any:
        table = self.arrays[gather.argument]
        indices = tuple(int(self.values[index]) for index in gather.indices)
        for index, size in zip(indices, table.shape, strict=True):
            if not 0 <= index < size:
                raise _Retired(IndexError, gather.site, gather.argument, index)
        loaded = table[indices]
        return np.bool_(loaded != 0) if gather.result.type is Type.BOOL else loaded

    def _plane(self, argument: str, component: int) -> np.ndarray:
        array = self.arrays[argument]
        return array[component] if array.ndim == 2 else array

    def _assign(self, values: tuple[Value, ...], numbers: tuple[Any, ...]) -> None:
        self.values.update(zip(values, numbers, strict=True))


def _special(name: str) -> Callable[..., Any]:
    import math

    return lambda value: type(value)(getattr(math, name)(float(value)))


NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, numpy_name)
    for name, numpy_name in {
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
        "atan2": "arctan2",
        "pow": "power",
        **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1")},
        **{name: name for name in ("log", "log2", "log10", "log1p", "cbrt", "hypot")},
    }.items()
} | {"erf": _special("erf"), "erfc": _special("erfc")}
