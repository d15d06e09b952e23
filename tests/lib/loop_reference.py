"""What loops of generated kernels come to, by the evaluator, one sample and one step at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from engine_programs import OUTPUTS, Case

from eagle_ir import Function, Store
from eagle_ir.evaluate import Fault, evaluate

__all__ = ["reference"]


def one_sample(case: Case, sample: int) -> dict[str, np.ndarray[Any, Any]]:
    """Views of a single sample."""
    tables = ("line", "grid", "flags")
    planes = {name: array for name, array in case.arrays.items() if not name.endswith(".base")}
    return {name: array if name in tables else array[..., sample : sample + 1] for name, array in planes.items()}


def is_finite(function: Function, arrays: dict[str, np.ndarray[Any, Any]]) -> bool:
    written = [one for one in function.body.instructions if isinstance(one, Store) and one.argument in OUTPUTS]
    rows = [
        arrays[one.argument] if arrays[one.argument].ndim == 1 else arrays[one.argument][one.component]
        for one in written
        if OUTPUTS[one.argument][0].is_float
    ]
    return all(bool(np.isfinite(row).all()) for row in rows)


def reference(
    function: Function,
    case: Case,
    max_steps: int,
    failed: np.ndarray[Any, Any] | None,
    functions: dict[str, Callable[..., Any]] | None = None,
) -> tuple[np.ndarray[Any, Any], Fault | None]:
    """Run every sample by itself; return the steps each took and the fault of the lowest sample."""
    steps, first = np.zeros(case.samples, np.int64), None
    for sample in range(case.samples):
        arrays = one_sample(case, sample)
        while steps[sample] < max_steps and not arrays["done"][0]:
            fault = evaluate(function, arrays, case.params, 1, functions)
            if fault is not None:
                first = first or Fault(sample, fault.error, fault.site, fault.table, fault.index)
                break
            steps[sample] += 1
            if failed is not None and not is_finite(function, arrays):
                failed[sample] = True
                break
    return steps, first
