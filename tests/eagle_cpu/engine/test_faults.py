"""A fault is recorded for the lowest sample, and named in words."""

from __future__ import annotations

import numpy as np
import pytest
from engine_running import call, pieces
from small_kernels import lookup, scale, to_int

from eagle.plugin import BuildError, Kernel
from eagle_cpu.engine import program_for
from eagle_ir.evaluate import Fault
from eagle_ir.faults import fault_error


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("cut", [8, 24, 400])
def test_the_lowest_sample_is_recorded_however_the_range_is_cut(cut: int, backwards: bool) -> None:
    i, k = np.zeros(333, np.int64), np.ones(333, np.int64)
    i[[70, 300]], k[[71, 332]] = -5, 0
    y = np.full(333, 9, np.int64)
    program = program_for(lookup(), lanes=8)
    arguments = program.arguments({"i": i, "k": k, "table": np.array([4]), "y": y}, {}, 333)
    codes = call(program.launch_entry, arguments.address, pieces(333, cut, backwards=backwards))
    assert arguments.fault == Fault(70, IndexError, 0, "table", -5)
    assert 1 in codes
    assert set(codes) <= {0, 1}
    assert np.flatnonzero(y != 4).tolist() == [70, 71, 300, 332]
    assert set(y[[70, 71, 300, 332]]) == {9}
    arguments.reset()
    assert arguments.fault is None


def test_an_index_into_an_empty_table_touches_no_memory() -> None:
    i, k, y = np.zeros(5, np.int64), np.ones(5, np.int64), np.zeros(5, np.int64)
    program = program_for(lookup())
    arguments = program.arguments({"i": i, "k": k, "table": np.empty(0, np.int64), "y": y}, {}, 5)
    call(program.launch_entry, arguments.address, [(0, 5)])
    assert arguments.fault == Fault(0, IndexError, 0, "table", 0)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault(3, IndexError, 0, "table", 17), "index 17 is outside table 'table', for sample 3 of kernel 'lookup'"),
        (Fault(4, ZeroDivisionError, 0), "integer division by zero, for sample 4 of kernel 'lookup'"),
        (Fault(5, OverflowError, 0), "does not fit in the integer it is converted to, for sample 5"),
    ],
)
def test_a_fault_names_kernel_line_table_sample_and_index(fault: Fault, text: str) -> None:
    error = fault_error(lookup(), fault)
    assert type(error) is fault.error
    assert text in str(error)
    assert "(model.py:12: y = table[i] // k)" in str(error)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31) - 1])
def test_a_float_that_fits_no_integer_overflows(number: float) -> None:
    x, y = np.array([-(2.0**31) - 0.5, 2.0**31 - 0.5, number, -0.9]), np.full(4, 7, np.int32)
    program = program_for(to_int())
    arguments = program.arguments({"x": x, "y": y}, {}, 4)
    assert call(program.launch_entry, arguments.address, [(0, 4)]) == [1]
    assert arguments.fault == Fault(2, OverflowError, 0)
    assert y.tolist() == [-(2**31), 2**31 - 1, 7, 0]


def test_a_stranger_dialect_is_refused_by_name() -> None:
    kernel = Kernel(name="alien", arguments=(), dialect="other/3", code=None, fingerprint="x")
    with pytest.raises(BuildError, match="'alien' is of dialect 'other/3'"):
        program_for(kernel)


def test_a_kernel_without_a_mask_has_no_loop() -> None:
    assert program_for(scale()).loop_entry is None
