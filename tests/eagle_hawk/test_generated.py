"""Generated kernels compute what their source says, by an oracle that walks it; and are verified whatever they hold."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracle import Oracle
from random_kernels import Case, kernels, planes

from eagle_ir import Function
from eagle_ir.evaluate import NUMPY, evaluate

SAMPLES = 4


@pytest.mark.property
@given(kernels(), st.sampled_from(["float64", "float32"]), st.integers(0, 1000))
def test_a_generated_kernel_equals_its_source(case: Case, scalar: str, seed: int) -> None:
    module = case.module()
    kernel = module.kernel.__eagle_kernel__(scalar)
    assert isinstance(kernel.code, Function)
    arrays, params = planes(case, scalar, SAMPLES, seed)
    for one in kernel.arguments:
        if one.name not in arrays and one.role != "param":
            arrays[one.name] = np.zeros((prod(one.shape), SAMPLES) if one.shape else SAMPLES, one.dtype)
    wanted = {name: array.copy() for name, array in arrays.items()}
    oracle: Any = Oracle(case.source, "kernel", vars(module), scalar, dict(NUMPY))
    failures = oracle.run(wanted, params, SAMPLES)
    fault = evaluate(kernel.code, arrays, params, SAMPLES)
    assert [(one.sample, one.kind) for one in failures[:1]] == ([(fault.sample, fault.error)] if fault else [])
    for name, array in arrays.items():
        assert same(array, wanted[name]), name


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same bits, NaN being equal to NaN."""
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    zeros = (a == 0) & (b == 0)
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros])))
